# Builds and drops hashes and checks their sums, for ever; keeps the statistics page of tests/programs.
# usage: perl hashes.pl STATISTICS-FILE
use strict;
use warnings;

my ($turns, $corruptions) = (0, 0);
open(my $page, '+>', $ARGV[0]) or die "$ARGV[0]: $!";

sub publish {
	sysseek($page, 0, 0);
	syswrite($page, pack('a8 Q<12 a152', 'limpte01', $$, 1, $turns, 0, $corruptions, (0) x 7, ''));
}

sub turn {
	my %square = map { ("key $_" => $_ * $_) } 1 .. 500;
	my $sum = 0;
	delete $square{"key $_"} for grep { $_ % 2 } 1 .. 500;
	$sum += $_ for values %square;
	$corruptions++ if $sum != 20958500 || keys(%square) != 250;
	$turns++;
}

turn();
publish();
syswrite(STDOUT, "ready\n");
while (1) {
	turn();
	publish();
}
