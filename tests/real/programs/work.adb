--  Works for ever: a task sorts numbers while the program itself makes texts.
with Ada.Containers.Vectors;
with Ada.Strings.Unbounded;

procedure Work is
   package Numbers is new Ada.Containers.Vectors (Natural, Integer);
   package Sorting is new Numbers.Generic_Sorting;

   task Sorter;

   procedure Sort_Many (Count : Positive) is
      List : Numbers.Vector;
   begin
      for I in 1 .. Count loop
         List.Append (I * 7919 mod 1009);
      end loop;
      Sorting.Sort (List);
   end Sort_Many;

   task body Sorter is
   begin
      loop
         Sort_Many (5000);
      end loop;
   end Sorter;

   function Texts (Count : Positive) return Natural is
      use Ada.Strings.Unbounded;
      Text : Unbounded_String;
   begin
      for I in 1 .. Count loop
         Append (Text, Integer'Image (I));
      end loop;
      return Length (Text);
   end Texts;

   Sum : Natural;
begin
   loop
      Sum := Texts (3000);
      if Sum = 0 then
         raise Program_Error;
      end if;
   end loop;
end Work;
