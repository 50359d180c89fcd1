# A Perl program that checks its own results: prints "done N failed N" as it goes on.
use strict;
use warnings;
use Time::HiRes qw(time);

sub counting {
    my ($turn) = @_;
    my %seen;
    $seen{ $_ % 97 }++ for 1 .. 970;
    return !grep { $_ != 10 } values %seen;
}

sub sorting {
    my ($turn) = @_;
    my @values = map { $turn * $_ * 7919 % 10007 } 0 .. 1999;
    my @ordered = sort { $a <=> $b } @values;
    $ordered[$_ - 1] <= $ordered[$_] or return 0 for 1 .. $#ordered;
    return @ordered == @values;
}

sub matching {
    my ($turn) = @_;
    my $text = join " ", map { "word$_" } 1 .. 200;
    my $count = () = $text =~ /\bword(\d+)\b/g;
    return $count == 200;
}

$| = 1;
my ($done, $failed, $next) = (0, 0, 0);
while (1) {
    for my $job (\&counting, \&sorting, \&matching) {
        $failed += !$job->(++$done);
    }
    next if time < $next;
    print "done $done failed $failed\n";
    $next = time + 0.1;
}
