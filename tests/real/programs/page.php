<?php
// A page that checks its own results: says "right", or "wrong".
class Page
{
    public function sorting($turn)
    {
        $values = array_map(function ($key) use ($turn) {
            return $turn * $key * 7919 % 10007;
        }, range(0, 1999));
        $ordered = $values;
        usort($ordered, fn($a, $b) => $a <=> $b);
        return array_sum($ordered) == array_sum($values) && $ordered[0] == min($values);
    }
}

function hashing($turn)
{
    $hash = "";
    for ($i = 0; $i < 10000; $i++) {
        $hash = md5($hash . $turn . $i);
    }
    return strlen($hash) == 32;
}

$turn = random_int(1, 1000);
echo hashing($turn) && (new Page)->sorting($turn) ? "right" : "wrong";
