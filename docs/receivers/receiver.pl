# perl receiver.pl: takes the webhooks of poterne. Keep users and ids in your database, in one transaction.
use strict; use warnings;
use Digest::SHA qw(hmac_sha256_base64); use IO::Socket::INET; use JSON::PP; use MIME::Base64;

my $key = decode_base64($ENV{APP_HOOK_SECRET} =~ s/^whsec_//r);
my (%users, %seen);

sub is_signed {
    my ($head, $body) = @_;
    my ($id, $time) = map { $head->{"webhook-$_"} // '' } qw(id timestamp);
    return 0 if $time !~ /^\d+$/ || abs(time - $time) > 300;
    my $wanted = 'v1,' . hmac_sha256_base64("$id.$time.$body", $key) . '=';
    # What is compared is hashed again, so that the time it takes says nothing.
    my $hidden = sub { hmac_sha256_base64($_[0], $key) };
    return scalar grep { $hidden->($_) eq $hidden->($wanted) } split / /, $head->{'webhook-signature'} // '';
}

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT} // 3000, Listen => 64, ReuseAddr => 1) or die $!;
$| = 1; binmode STDOUT, ':utf8'; $SIG{PIPE} = 'IGNORE';  # whoever goes away early ends nothing
while (my $client = $server->accept) {
    my (%head, $body);
    while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n/; $head{lc $1} = $2 if $line =~ /^([\w-]+):\s*(.*?)\r?\n/ }
    read $client, $body, ($head{'content-length'} // '') =~ /^(\d{1,6})$/ ? $1 : 0;
    my $signed = is_signed(\%head, $body // '');
    if ($signed && !$seen{$head{'webhook-id'}}++) {
        my ($type, $data) = @{decode_json $body}{qw(type data)};
        $users{$data->{account}} = $data->{account_state} if $data->{account} && exists $data->{account_state};
        print join(' ', $type, $data->{account} // '-', $data->{account_state}{email} // '-'), "\n";
    }
    print $client 'HTTP/1.1 ', $signed ? '204 No Content' : '401 Unauthorized', "\r\nConnection: close\r\n\r\n";
    close $client;
}
