# A program whose stacks are known.  A comment tells which function a line leads to.
use strict;
use warnings;
use List::Util qw(first);

sub burn {
    my $i = 0;
    while ($i < 30000) {
        $i++;
    }
} # of burn

sub inner {
    burn(); # -> main::burn
}

sub nested {
    inner(); # -> main::inner
}

sub recursion {
    my ($depth) = @_;
    if ($depth == 0) {
        burn(); # -> main::burn
        return;
    }
    recursion($depth - 1); # -> main::recursion
}

sub by_burning {
    burn(); # -> main::burn
    return $a <=> $b;
}

sub callback {
    my @sorted = sort by_burning 2, 1; # -> main::by_burning
}

sub block {
    my @found = first { burn(); 1 } 1, 2; # -> main::__ANON__, main::burn
}

sub trying {
    eval {
        burn(); # -> main::burn
    };
}

package Shop;

use overload '""' => sub {
    main::burn(); # -> main::burn
    return "shop";
};

sub method {
    my ($self) = @_;
    my $text = "$self"; # -> Shop::__ANON__
}

package main;

sub methods {
    my $shop = bless {}, "Shop";
    $shop->method(); # -> Shop::method
}

sub waiting {
    sleep 1000; # -> nowhere
}

my %all = (
    nested => \&nested, recursion => \&recursion, callback => \&callback, block => \&block,
    trying => \&trying, methods => \&methods, waiting => \&waiting,
);
my @ways = grep { $_ ne "waiting" } sort keys %all;
while (1) {
    for my $way ($ARGV[0] eq "all" ? @ways : $ARGV[0]) {
        $all{$way}->(30); # -> main::nested, main::recursion, main::callback, main::block, main::trying, main::methods, main::waiting
    }
}
