package ssh

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// The lines that the script prints before remote.Ready.
const (
	sayHave  = "DEPLOYSTER-HAVE"
	sayNeed  = "DEPLOYSTER-NEED "
	sayMore  = "DEPLOYSTER-MORE"
	sayWrong = "DEPLOYSTER-WRONG "
)

// The limits of the exchange before the agent speaks.
const (
	greeting   = 30 * time.Second // until the host prints the next of these lines
	installing = 10 * time.Minute
	maxNoise   = 64 << 10 // bytes that the host may print before remote.Ready, as login profiles do
)

// script installs the program if it is missing, removes programs that were not used for
// 30 days, and executes the installed program. It has no single quotes. Its parameters
// are the choice of the bundle's checksum, with the restorer of its archive, and the data directory.
//
// Where the archive begins with the program that restores the others, its header and itself are received and checked first;
// it then takes the rest. That is sent only when the host requires it: the head of busybox reads more than it prints, and what it
// has read is lost. A shell may print the script before it runs it, so none of the lines that are waited for is in it.
// The write after a failure has the reason printed where the disk is full: tar may print only how
// many bytes it wrote.
const script = `umask 077; R=DEPLOYSTER; A=; %s; D=%s/far/$S; T=$D.$$; exec 3>&1
install() {
LC_ALL=C; export LC_ALL; mkdir -p $T && { if [ "$A" ]; then
head -c $L >$T/bundle && tail -c +513 $T/bundle >$T/deployster-agent && echo "$A  $T/deployster-agent" | sha256sum -c - >/dev/null &&
chmod 755 $T/deployster-agent && echo $R-MORE >&3 && $T/deployster-agent -unpack $T $S $1 3>&-; else
head -c $1 >$T/bundle && echo "$S  $T/bundle" | sha256sum -c - >/dev/null && gzip -dc <$T/bundle | tar -xf - -C $T
fi; } && rm $T/bundle && { mv -T $T $D || { rm -rf $T; [ -x $D/deployster-host ]; }; } ||
{ head -c 65536 /dev/zero >>$T/bundle; false; }
}
wrong() { echo "$1" | head -n 30 | sed "s|^|$R-WRONG |"; exit 1; }
if [ -x $D/deployster-host ]; then echo $R-HAVE; else
echo "$R-NEED $(uname -s)/$(uname -m)"; read -r n || exit 1
M=$(LC_ALL=C mkdir -p %s/far 2>&1) || wrong "$M"
W=$(install $n 2>&1) || { rm -rf $T; wrong "$W"; }
fi; touch $D; find %s/far -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} + 2>/dev/null
DEPLOYSTER_DATA_DIR=%s exec $D/deployster-host far 3>&-`

// InUse marks an installed program as in use, at intervals, until ctx ends. The script of
// another version does not remove the program's directory then.
func InUse(ctx context.Context, program string, every time.Duration) {
	dir := filepath.Dir(program)
	if filepath.Base(filepath.Dir(dir)) != "far" {
		return // the script did not install this program
	}
	for ctx.Err() == nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // a failure is repaired by the next try
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// Options declare how to reach hosts.
type Options struct {
	Command []string                              // replaces ssh; nil = ssh
	Bundle  func(context.Context) (Bundle, error) // packs this program; nil = it does not run on hosts
	Arch    string                                // of the bundle, as uname -m prints it
	Find    func(name string) string              // returns the path of a file in this program's directory; "" = there is none
	Timing  remote.Timing
}

// Dial connects to a host, installs the program if it is missing, and returns a client
// of the agent. The caller must close the client. The error is a
// *remote.UnreachableError, a *remote.RefusedError, or the context's.
func Dial(ctx context.Context, a runner.Host, h remote.Hello, o Options) (*remote.Client, error) {
	bundles, err := others(o.Find)
	if err == nil && o.Bundle != nil {
		bundles[o.Arch], err = o.Bundle(ctx)
	}
	if err == nil && len(bundles) == 0 {
		err = fmt.Errorf("%s does not exist in the directory of this program", otherName("amd64"))
	}
	if err != nil {
		return nil, fmt.Errorf("the program for a host cannot be packed: %w", err)
	}
	s, err := start(a, o, fmt.Sprintf(script, choice(bundles, o.Arch), a.Data(), a.Data(), a.Data(), a.Data()), h.Fresh)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, s.ssh.Kill)
	err = s.begin(bundles, o.Arch)
	s.ended()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.kill()
		return nil, s.explain(ctx, err)
	}
	client, err := remote.NewClient(ctx, s.ssh, h, o.Timing)
	if err == nil {
		client.SetPrinted(s.said())
	} else {
		s.kill()
		if diag.Is[*remote.LostError](err) {
			return nil, s.explain(ctx, err)
		}
	}
	return client, err
}
