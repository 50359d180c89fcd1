(* Works for ever: allocation, closures, exceptions, maps. *)
module Numbers = Map.Make (Int)

exception Found of int

let counting n =
  let rec go i map = if i = n then map else go (i + 1) (Numbers.add (i mod 509) i map) in
  Numbers.fold (fun _ value sum -> value + sum) (go 0 Numbers.empty) 0

let sorting n = List.hd (List.sort (fun a b -> compare b a) (List.init n (fun i -> i * 7919 mod 1009)))

let raising n =
  try List.iter (fun i -> if i * i > n then raise (Found i)) (List.init n Fun.id); 0 with Found i -> i

let () =
  let total = ref 0 in
  while true do
    total := (!total + counting 20000 + sorting 500 + raising 500) land 0xffff;
    if !total < 0 then print_int !total
  done
