# A program whose stacks are known.  A comment tells which function a line leads to.
def burn
  i = 0
  while i < 100_000
    i += 1
  end
end # of burn

def inner
  burn # -> burn
end

def nested
  inner # -> inner
end

def recursion(depth)
  return burn if depth.zero? # -> burn
  recursion(depth - 1) # -> recursion
end

def callback
  [2, 1].sort_by do |x| # -> block in callback
    burn # -> burn
    x
  end
end

class Shop
  define_method(:method_by_block) do # -> burn
    burn # -> burn
  end

  def method
    method_by_block # -> block in <class:Shop>
  end
end

def methods_of_a_class
  Shop.new.method # -> method
end

def fiber
  Fiber.new { burn }.resume # -> burn
end

def größe
  burn # -> burn
end

def waiting
  sleep # -> nowhere
end

ALL = %w[nested recursion callback class fiber unicode]

def go(way)
  case way
  when "all" then ALL.each { |one| go(one) } # -> block in go, go
  when "nested" then nested # -> nested
  when "recursion" then recursion(30) # -> recursion
  when "callback" then callback # -> callback
  when "class" then methods_of_a_class # -> methods_of_a_class
  when "fiber" then fiber # -> fiber
  when "unicode" then größe # -> größe
  when "waiting" then waiting # -> waiting
  end
end

threads = ARGV.drop(1).map do |way|
  Thread.new do
    loop { go(way) } # -> go, block (3 levels) in <main>
  end
end
loop { go(ARGV[0]) } # -> go, block in <main>
