<?php
// A program whose stacks are known.  A comment tells which function a line leads to.
function burn()
{
    for ($i = 0; $i < 100000; $i++) {
    }
} // of burn

function inner()
{
    burn(); // -> burn
}

function nested()
{
    inner(); // -> inner
}

function recursion($depth)
{
    if ($depth == 0) {
        burn(); // -> burn
        return;
    }
    recursion($depth - 1); // -> recursion
}

function callback()
{
    array_map(function ($x) { // -> {closure}
        burn(); // -> burn
    }, [1, 2]); // -> {closure}
}

class Shop
{
    public function __get($name)
    {
        burn(); // -> burn
    }

    public static function make()
    {
        $shop = new Shop;
        $shop->missing; // -> Shop::__get
    }
}

function methods()
{
    Shop::make(); // -> Shop::make
}

function produce()
{
    burn(); // -> burn
    yield 1;
}

function generator()
{
    foreach (produce() as $x) { // -> produce
    }
}

function waiting()
{
    sleep(1000); // -> nowhere
}

$all = ["nested", "recursion", "callback", "methods", "generator"];
while (true) {
    foreach ($argv[1] == "all" ? $all : [$argv[1]] as $way) {
        $way(30); // -> nested, recursion, callback, methods, generator, waiting
    }
}
