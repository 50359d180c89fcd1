# A threaded Ruby program that checks its own results: prints "done N failed N" as it goes on.
require "digest"
require "json"

$done = Array.new(3, 0)
$failed = Array.new(3, 0)

def hashing(turn)
  data = "#{turn}" * 2000
  Digest::SHA256.hexdigest(data) == Digest::SHA256.hexdigest(data.dup)
end

def objects(turn)
  value = (turn % 50..turn % 50 + 100).to_h { |key| [key.to_s, [key, { "square" => key * key }]] }
  JSON.parse(JSON.generate(value)) == value
end

def sorting(turn)
  values = (0...2000).map { |key| turn * key * 7919 % 10007 }
  ordered = values.sort_by { |value| value }
  ordered.each_cons(2).all? { |a, b| a <= b } && ordered.sum == values.sum
end

%i[hashing objects sorting].each_with_index do |job, index|
  Thread.new do
    (1..).each do |turn|
      $failed[index] += 1 unless send(job, turn)
      $done[index] += 1
    end
  end
end
$stdout.sync = true
loop do
  sleep 0.1
  puts "done #{$done.sum} failed #{$failed.sum}"
end
