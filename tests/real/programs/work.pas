{ Works for ever: recursion, strings and an exception that is thrown and caught. }
program work;

{$mode objfpc}

uses sysutils;

function Deep(n: integer): integer;
begin
  if n = 0 then
    exit(0);
  Deep := Deep(n - 1) + n mod 7;
end;

function Texts(count: integer): integer;
var
  i: integer;
  text: ansistring;
begin
  text := '';
  for i := 1 to count do
    text := text + IntToStr(i * 7919);
  Texts := length(text);
end;

function Caught(count: integer): integer;
var
  i: integer;
begin
  Caught := 0;
  for i := 1 to count do
    try
      if Texts(20) > 0 then
        raise Exception.Create('thrown');
    except
      on E: Exception do
        Caught := Caught + length(E.Message);
    end;
end;

var
  sum: int64;
begin
  sum := 0;
  while true do
    sum := (sum + Deep(200) + Texts(500) + Caught(20)) mod 1000003;
end.
