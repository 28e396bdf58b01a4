//go:build machines

package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/protocol"
)

// edit is a change of a machine by a program that knows nothing of deployster, and which values of the config the plan shows
// after it: none if what was changed is not the resource's.
type edit struct{ script, shows string }

// alone marks an edit that no other one goes with: it takes away what they would change.
const alone = ":\n"

// What a plan shows that is no value of the config.
const (
	gone  = "gone"  // it is created again
	whole = "whole" // what the resource has beside its values, such as the mode of its file
)

// edited is a kind with a config that the edits leave. before is a script that makes what the config needs.
type edited struct {
	kind, before string
	config       map[string]any
	edits        []edit
}

// editedKinds has what is edited: the model of an edit is what it shows.
func editedKinds(server, sum string) []edited {
	return slices.Concat(editedFiles(server, sum), editedTexts(), editedAccounts(), editedSettings(), editedUnits(), editedPackages(),
		editedServers())
}

// notEdited are kinds of which a machine need not have anything: a kernel may load no modules.
var notEdited = []string{"kernel_module"}

const editedNeeds = `exec </dev/null; export DEBIAN_FRONTEND=noninteractive; set -e
apt-get update -q
apt-get install -qy --no-install-recommends cron sudo git nftables podman crun busybox-static postgresql e2fsprogs >/dev/null
mkdir -p /etc/containers /srv/image/bin
printf '[storage]\ndriver="vfs"\nrunroot="/run/containers/storage"\ngraphroot="/var/lib/containers/storage"\n' >/etc/containers/storage.conf
cp /bin/busybox /srv/image/bin/sh
tar -C /srv/image -c . | podman import -q - localhost/test:1
systemctl start postgresql@15-main`

// Random edits of a machine by hand, one to three at a time: a plan shows exactly the values that were edited, an apply mends
// them, and the next plan is empty. DEPLOYSTER_MACHINE_EDITS is how often for each kind, and DEPLOYSTER_MACHINE_SEED chooses others.
func TestKinds_RandomEdits(t *testing.T) {
	count, seed := number(t, "DEPLOYSTER_MACHINE_EDITS", 10), number(t, "DEPLOYSTER_MACHINE_SEED", 1)
	p, m := started(t)
	archive := release(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(archive) // a client that is gone has its reasons
	}))
	defer server.Close()
	all := editedKinds(server.URL, fmt.Sprintf("%x", sha256.Sum256(archive)))
	for name := range kinds(&access.Machine{}) {
		if !slices.ContainsFunc(all, func(one edited) bool { return one.kind == name }) && !slices.Contains(notEdited, name) {
			t.Errorf("nothing of the kind %s is edited", name)
		}
	}
	p.edit(m, editedNeeds)
	p.edit(m, judgedRepository())
	t.Cleanup(func() { _, _ = m.Shell("swapoff /srv/disk/file") }) // what a failed test has left: the kernel is that of this machine
	for _, one := range all {
		t.Run(one.kind, func(t *testing.T) {
			q := *p
			q.t = t
			defer func() { p.calls = q.calls }()
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			q.edit(m, one.before)
			q.apply(one.kind, one.config, protocol.Present)
			begun, made := time.Now(), 0
			for range count {
				made += q.edited(one, random, m)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d edits in %d plans, %s", made, count, time.Since(begun).Round(time.Millisecond))
			q.apply(one.kind, one.config, protocol.Absent)
		})
	}
}

// edit runs a script on the machine.
func (p *program) edit(m *machines.Machine, script string) {
	p.t.Helper()
	if out, err := m.Shell("set -e\n" + script); err != nil {
		p.t.Fatal(err, out)
	}
}

// edited makes some edits, and wants the plan to show them and an apply to mend them.
func (p *program) edited(one edited, random *rand.Rand, m *machines.Machine) (made int) {
	p.t.Helper()
	var scripts, want []string
	for _, n := range random.Perm(len(one.edits))[:min(1+random.IntN(3), len(one.edits))] {
		e := one.edits[n]
		shows := strings.Fields(e.shows)
		other := strings.HasPrefix(e.script, alone) || slices.Contains(shows, gone) ||
			slices.ContainsFunc(shows, func(path string) bool { return slices.Contains(want, path) })
		if made > 0 && other {
			continue
		}
		scripts, want, made = append(scripts, e.script), append(want, shows...), made+1
		if other {
			break
		}
	}
	p.edit(m, strings.Join(scripts, "\n"))
	a := p.state(one.kind, one.config, protocol.Present)
	var shown []string
	for _, r := range a.Reasons {
		if shown = append(shown, r.Path); r.Path == "" {
			shown[len(shown)-1] = whole
		}
	}
	if len(shown) == 0 && a.Status == protocol.Stale {
		shown = []string{gone}
	}
	slices.Sort(want)
	if slices.Sort(shown); !slices.Equal(slices.Compact(shown), slices.Compact(want)) || a.Error != nil {
		p.t.Errorf("%s after %q: %s shows %v (%v), and should show %v: %+v", one.kind, scripts, a.Status, shown, a.Error, want, a.Reasons)
		return made
	}
	p.apply(one.kind, one.config, protocol.Present) // it wants the next state to be VALID
	return made
}
