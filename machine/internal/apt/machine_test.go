//go:build machines

package apt

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
)

//go:embed testdata/repository.sh
var makeRepository string

// lockVariable has the path that this program is to lock, in place of running tests.
const lockVariable = "DEPLOYSTER_TEST_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(lockVariable); path != "" {
		lockUntilKilled(path)
	}
	os.Exit(machines.RunInside(m, makeRepository))
}

func lockUntilKilled(path string) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err == nil {
		err = unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
}

type config = kindtest.Config

func pkg(t *testing.T) *kindtest.Resource {
	return kindtest.New(t, NewPackage(&access.Machine{Root: "/"}))
}

// fresh removes the packages of the repository, and makes the indexes new.
func fresh(t *testing.T) {
	t.Helper()
	kindtest.Shell(t, `rm -f /run/fails /run/slow; dpkg --configure -a >/dev/null
		names=$(sed -n 's/^Package: //p' /srv/repository/Packages | sort -u)
		apt-mark unhold $names >/dev/null
		DEBIAN_FRONTEND=noninteractive dpkg --purge --force-all $names 2>/dev/null
		mkdir -p /var/lib/apt/periodic && touch /var/lib/apt/periodic/update-success-stamp`)
}

func version(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(strings.ReplaceAll(kindtest.Shell(t, "dpkg-query -W -f '${Version} ${db:Status-Status}' "+name+" "+
		"2>/dev/null || true"), "not-installed", ""))
}

func TestPackage_IsInstalledAndRemoved(t *testing.T) {
	fresh(t)
	r, c := pkg(t), config{"name": "hello"}
	first := r.Apply(c)
	if version(t, "hello") != "2.0 installed" || !strings.Contains(string(first.Forecast), `"version":"2.0"`) {
		t.Errorf("%s after the forecast %s", version(t, "hello"), first.Forecast)
	}
	if d := first.Actions[0].Description; d != "Install hello 2.0: also installs hello-data 2.0, hello-doc 2.0" {
		t.Errorf("the plan says %q", d)
	}
	r.Valid(c)
	gone := r.Destroy(c)
	if gone.Actions[0].Destructive || version(t, "hello") != "" {
		t.Errorf("%+v, and then %q", gone.Actions, version(t, "hello"))
	}
}

func TestPackage_RecommendsAreAChoice(t *testing.T) {
	fresh(t)
	pkg(t).Apply(config{"name": "hello", "recommends": false})
	if v := version(t, "hello-doc"); v != "" {
		t.Errorf("what it recommends is %s", v)
	}
}

func TestPackage_VersionIsExactOrAPattern(t *testing.T) {
	fresh(t)
	r := pkg(t)
	r.Apply(config{"name": "hello", "version": "1.0"})
	r.Valid(config{"name": "hello", "version": "1.*"})
	r.Valid(config{"name": "hello"}) // latest does not exist: there is what there is
	r.Apply(config{"name": "hello", "version": "1.1*"})
	if v := version(t, "hello"); v != "1.1 installed" {
		t.Errorf("it is %s", v)
	}
	down := r.Apply(config{"name": "hello", "version": "1.0"})
	if kindtest.Names(down) != "downgrade" || version(t, "hello") != "1.0 installed" {
		t.Errorf("%s, and it is %s", kindtest.Names(down), version(t, "hello"))
	}
	r.Fails(config{"name": "hello", "version": "3.*"}, "config", "/version", "2.0, 1.1, 1.0")
}

func TestPackage_UnknownNameIsAnError(t *testing.T) {
	fresh(t)
	r := pkg(t)
	r.Fails(config{"name": "no-such-package"}, "config", "/name", "there is no package no-such-package")
	r.Fails(config{"name": "impossible"}, "config", "/name", "nothing-has-this")
}

// A name that old indexes do not have may be in new ones: they are updated by the action.
func TestPackage_UnknownNameUpdatesOldIndexes(t *testing.T) {
	fresh(t)
	kindtest.Shell(t, `cd /srv/repository && mkdir -p late/DEBIAN && printf 'Package: late\nVersion: 1\nArchitecture: all\nMaintainer: N <n@example.org>\nDescription: t\n' >late/DEBIAN/control &&
		dpkg-deb --build -Znone late late_1.deb >/dev/null && cp Packages Packages.before &&
		{ dpkg-deb -f late_1.deb; printf 'Filename: ./late_1.deb\nSize: %s\nSHA256: %s\n\n' $(stat -c %s late_1.deb) $(sha256sum late_1.deb | cut -d' ' -f1); } >>Packages
		touch -d '30 minutes ago' /var/lib/apt/periodic/update-success-stamp`)
	defer kindtest.Shell(t, "cd /srv/repository && mv Packages.before Packages && dpkg --purge late && apt-get update")
	first := pkg(t).Apply(config{"name": "late"})
	if !strings.Contains(first.Actions[0].Description, "are updated before") {
		t.Errorf("the plan says %q", first.Actions[0].Description)
	}
}

func TestPackage_OldIndexesForecastNothing(t *testing.T) {
	fresh(t)
	kindtest.Shell(t, "touch -d '2 hours ago' /var/lib/apt/periodic/update-success-stamp /etc/apt/sources.list.d /etc/apt/sources.list")
	r, c := pkg(t), config{"name": "hello"}
	before := kindtest.Shell(t, "stat -c %Y /var/lib/apt/periodic/update-success-stamp")
	first := r.State(c)
	if strings.Contains(string(first.Forecast), "version") || !strings.Contains(first.Actions[0].Description, "known only then") {
		t.Errorf("forecast %s: %s", first.Forecast, first.Actions[0].Description)
	}
	if after := kindtest.Shell(t, "stat -c %Y /var/lib/apt/periodic/update-success-stamp"); after != before {
		t.Error("a query updated the indexes")
	}
	r.Apply(c)
	if after := kindtest.Shell(t, "stat -c %Y /var/lib/apt/periodic/update-success-stamp"); after == before {
		t.Error("the action did not update the indexes")
	}
}

func TestPackage_RemovalOfOthersIsDestructive(t *testing.T) {
	fresh(t)
	r, c := pkg(t), config{"name": "hello"}
	r.Apply(c)
	rival := pkg(t)
	a := rival.State(config{"name": "rival"})
	if !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "removes hello") {
		t.Errorf("the plan says %+v", a.Actions)
	}
	needs := pkg(t)
	needs.Apply(config{"name": "needs-hello"})
	gone := r.Destroy(c)
	if !gone.Actions[0].Destructive || !strings.Contains(gone.Actions[0].Description, "removes needs-hello") {
		t.Errorf("the plan says %+v", gone.Actions)
	}
}

// wanting returns the installation of a package, as a plan shows it.
func wanting(t *testing.T, name string) member {
	t.Helper()
	shown, err := shownEffects(pkg(t).State(config{"name": name}).Actions[0].Effects)
	if err != nil {
		t.Fatal(err)
	}
	return member{verb: "install", name: name, shown: shown}
}

// refused wants a transaction that no member of is begun, because it would do more than was shown.
func refused(t *testing.T, members []member, more string) {
	t.Helper()
	m := &access.Machine{Root: "/"}
	g := newManager(m)
	before := kindtest.Shell(t, "dpkg -l | md5sum")
	for i, err := range g.transact(t.Context(), members, t.Output(), func(int) { t.Error("a member was begun") }) {
		if err == nil || !strings.Contains(err.Error(), more+", which the plan did not show: nothing was changed") {
			t.Errorf("%s: %v, want %s", members[i].name, err, more)
		}
	}
	if after := kindtest.Shell(t, "dpkg -l | md5sum"); after != before {
		t.Error("packages were changed")
	}
}

// What no plan has shown is not removed, also when the world has changed since the plan.
func TestPackage_RemovesOnlyWhatWasShown(t *testing.T) {
	fresh(t)
	rival := wanting(t, "rival")
	pkg(t).Apply(config{"name": "hello"})
	refused(t, []member{rival}, "remove hello")
}

// Two packages together may need a third one that neither of them needs alone. All members are
// refused, those of other transactions too.
func TestPackage_AddsOnlyWhatWasShown(t *testing.T) {
	fresh(t)
	choosy, picky, many := wanting(t, "choosy"), wanting(t, "picky"), wanting(t, "many-a")
	many.recommends = new(bool) // so it is a transaction of its own
	if !slices.Equal(choosy.shown.Adds, []string{"choosy", "first"}) || !slices.Equal(picky.shown.Adds, []string{"picky"}) {
		t.Fatalf("alone they add %v and %v", choosy.shown.Adds, picky.shown.Adds)
	}
	refused(t, []member{many, choosy, picky}, "install or change second")
	kindtest.Shell(t, "apt-get install -y picky")
	refused(t, []member{choosy}, "install or change second")
}

// Two packages go one after the other, and the second one had shown that it takes the first along.
func TestPackage_RemovalMayTakeLessThanWasShown(t *testing.T) {
	fresh(t)
	hello, needs := pkg(t), pkg(t)
	hello.Apply(config{"name": "hello"})
	needs.Apply(config{"name": "needs-hello"})
	shown := hello.StateAbsent(config{"name": "hello"})
	needs.Destroy(config{"name": "needs-hello"})
	now := hello.StateAbsent(config{"name": "hello"})
	if !slices.Equal(shown.Actions[0].Args, now.Actions[0].Args) || !shown.Actions[0].Destructive || now.Actions[0].Destructive {
		t.Errorf("%+v was shown, and now it is %+v", shown.Actions, now.Actions)
	}
	hello.Destroy(config{"name": "hello"})
}

func TestPackage_VirtualNameIsResolved(t *testing.T) {
	fresh(t)
	r, c := pkg(t), config{"name": "greeter"}
	first := r.Apply(c)
	if d := first.Actions[0].Description; d != "Install one-greeter 1.0, which provides greeter" {
		t.Errorf("the plan says %q", d)
	}
	r.Fails(config{"name": "greeter", "version": "1.0"}, "config", "/version", "virtual")
	r.Destroy(c)
	if v := version(t, "one-greeter"); v != "" {
		t.Errorf("it is still %s", v)
	}
	r.Fails(config{"name": "paint"}, "config", "blue-paint, red-paint")
	kindtest.Shell(t, "apt-get install -y red-paint")
	r.Valid(config{"name": "paint"})
}

func TestPackage_HoldIsKept(t *testing.T) {
	fresh(t)
	r := pkg(t)
	if first := r.Apply(config{"name": "hello", "version": "1.0", "hold": true}); kindtest.Names(first) != "install hold" {
		t.Errorf("the plan has %s", kindtest.Names(first))
	}
	r.Fails(config{"name": "hello", "version": "1.1"}, "config", "held at 1.0")
	if first := r.Apply(config{"name": "hello", "version": "1.1", "hold": true}); kindtest.Names(first) != "install hold" {
		t.Errorf("the plan has %s", kindtest.Names(first))
	}
	if held := kindtest.Shell(t, "apt-mark showhold"); held != "hello" || version(t, "hello") != "1.1 installed" {
		t.Errorf("%q is held, and it is %s", held, version(t, "hello"))
	}
	if first := r.Apply(config{"name": "hello", "version": "2.0", "hold": false}); kindtest.Names(first) != "unhold install" {
		t.Errorf("the plan has %s", kindtest.Names(first))
	}
	r.Valid(config{"name": "hello"})
	kindtest.Shell(t, "apt-mark hold hello")
	r.DestroyFails(config{"name": "hello"}, "held at 2.0 by somebody else")
	if a := r.Destroy(config{"name": "hello", "hold": true}); kindtest.Names(a) != "unhold remove" {
		t.Errorf("the plan has %s", kindtest.Names(a))
	}
}

// A package may be held without being installed: by hand, or since it was removed.
func TestPackage_HoldOfWhatIsNotInstalled(t *testing.T) {
	fresh(t)
	r := pkg(t)
	for _, hold := range []bool{true, false} {
		kindtest.Shell(t, "dpkg --purge hello; apt-mark hold hello")
		r.Fails(config{"name": "hello"}, "config", "/name", "somebody else holds it")
		r.Apply(config{"name": "hello", "hold": hold})
		r.Valid(config{"name": "hello", "hold": hold})
		kindtest.Shell(t, "apt-mark unhold hello")
	}
}

func TestPackage_PromptsForNothing(t *testing.T) {
	fresh(t)
	r := pkg(t)
	r.Apply(config{"name": "asks", "version": "1.0"})
	kindtest.Shell(t, "echo mine >/etc/asks.conf")
	r.Apply(config{"name": "asks", "version": "2.0"})
	if text := kindtest.Shell(t, "cat /etc/asks.conf"); text != "mine" {
		t.Errorf("the file has %q", text)
	}
	r.Destroy(config{"name": "asks"})
	if _, err := os.Stat("/etc/asks.conf"); err != nil {
		t.Error(err)
	}
	if a := r.Destroy(config{"name": "asks", "purge": true}); !a.Actions[0].Destructive {
		t.Errorf("the plan has %+v", a.Actions)
	}
	if _, err := os.Stat("/etc/asks.conf"); err == nil {
		t.Error("its configuration is still there")
	}
}

// What dpkg was interrupted in belongs to packages that no plan shows: an action of its own.
func TestPackage_InterruptedDpkgIsMendedFirst(t *testing.T) {
	fresh(t)
	kindtest.Shell(t, "touch /run/fails; ! apt-get install -y fails >/dev/null 2>&1; rm /run/fails")
	r := pkg(t)
	first := r.Apply(config{"name": "hello"})
	if kindtest.Names(first) != "configure install" || !strings.Contains(first.Actions[0].Description, "fails") {
		t.Errorf("the plan has %+v", first.Actions)
	}
	if v := version(t, "fails"); v != "1.0 installed" {
		t.Errorf("the interrupted package is %s", v)
	}
	kindtest.Shell(t, "touch /run/fails; dpkg --purge fails; ! apt-get install -y fails >/dev/null 2>&1")
	own := pkg(t)
	own.Fails(config{"name": "fails"}, "configure failed", "fails")
	kindtest.Shell(t, "rm /run/fails")
	if a := own.Apply(config{"name": "fails"}); kindtest.Names(a) != "configure" {
		t.Errorf("the plan has %+v", a.Actions)
	}
}

func TestPackage_KilledInTheActionIsFinished(t *testing.T) {
	fresh(t)
	kindtest.Shell(t, "touch /run/slow; (timeout -s KILL 3 setsid apt-get install -y slow >/dev/null 2>&1; pkill -KILL -f "+
		"'slow.postins[t]'; pkill -KILL dpkg; rm -f /run/slow) || true; sleep 0.5")
	if v := version(t, "slow"); !strings.Contains(v, "half-configured") && !strings.Contains(v, "unpacked") {
		t.Fatalf("the package is %q", v)
	}
	pkg(t).Apply(config{"name": "slow"})
	if v := version(t, "slow"); v != "1.0 installed" {
		t.Errorf("the package is %s", v)
	}
}

func TestPackage_LocksAreWaitedFor(t *testing.T) {
	for _, path := range locks {
		t.Run(path, func(t *testing.T) {
			fresh(t)
			kindtest.Shell(t, "touch -d '2 hours ago' /var/lib/apt/periodic/update-success-stamp /etc/apt/sources.list.d /etc/apt/sources.list")
			release := hold(t, path)
			var early bool
			time.AfterFunc(1500*time.Millisecond, func() {
				early = strings.Contains(version(t, "hello"), "installed")
				release()
			})
			r := pkg(t)
			r.Apply(config{"name": "hello"})
			if early {
				t.Error("it did not wait")
			}
			if log := r.Log.String(); !strings.Contains(log, "waiting for process") || !strings.Contains(log, path) {
				t.Errorf("the log says %q", log)
			}
		})
	}
}

// hold takes a lock as apt does, in a process of its own.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	c := exec.Command("/proc/self/exe")
	c.Env = []string{lockVariable + "=" + path}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 7)
	if _, err := out.Read(line); err != nil || string(line) != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// Members of a batch are one transaction, and one that cannot be done fails alone.
func TestTransact_ManyAreOne(t *testing.T) {
	fresh(t)
	m := &access.Machine{Root: "/"}
	g := newManager(m)
	before := kindtest.Shell(t, "grep -c ^Start-Date /var/log/apt/history.log || true")
	begun := map[int]bool{}
	var members []member
	for _, name := range []string{"many-a", "many-b", "many-c", "many-d"} {
		members = append(members, wanting(t, name))
	}
	for i, err := range g.transact(t.Context(), members, t.Output(), func(i int) { begun[i] = true }) {
		if err != nil {
			t.Errorf("%s: %v", members[i].name, err)
		}
	}
	if n := kindtest.Shell(t, "expr $(grep -c ^Start-Date /var/log/apt/history.log) - "+before); n != "1" {
		t.Errorf("%s transactions", n)
	}
	if len(begun) != len(members) {
		t.Errorf("%d members were begun, want %d", len(begun), len(members))
	}
	clear(begun)
	impossible := member{verb: "install", name: "impossible", shown: effects{Open: true}}
	errs := g.transact(t.Context(), []member{wanting(t, "hello"), impossible}, t.Output(),
		func(i int) { begun[i] = true })
	if errs[0] != nil || errs[1] == nil || version(t, "hello") != "2.0 installed" {
		t.Errorf("%v, and hello is %s", errs, version(t, "hello"))
	}
	if !begun[0] || begun[1] {
		t.Errorf("begun are %v, want the one that can be installed", begun)
	}
}

func TestPackage_IsWatched(t *testing.T) {
	fresh(t)
	r, c := pkg(t), config{"name": "hello"}
	r.Apply(c)
	events := r.Watch(c)
	kindtest.Shell(t, "dpkg -r hello")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
}

func TestPackage_IsDiscovered(t *testing.T) {
	fresh(t)
	r := pkg(t)
	r.Apply(config{"name": "hello"})
	found := map[any]bool{}
	for _, c := range r.Discover(config{"name": "x"}) {
		found[c["name"]] = true
	}
	if !found["hello"] || found["hello-data"] {
		t.Errorf("it lists %v", found)
	}
}

// Whatever config follows another one: it is valid after its actions, and what was forecast is so.
func TestPackage_RandomEdits(t *testing.T) {
	fresh(t)
	random := rand.New(rand.NewPCG(1, 2))
	r := pkg(t)
	held := false
	for range 40 {
		c := config{"name": "hello"}
		if random.IntN(2) == 0 {
			c["version"] = []string{"1.0", "1.1", "2.*", "1.*", "2.0"}[random.IntN(5)]
		}
		if random.IntN(3) > 0 || held {
			held = random.IntN(2) == 0
			c["hold"] = held
		}
		if random.IntN(2) == 0 {
			c["recommends"] = random.IntN(2) == 0
		}
		if random.IntN(6) == 0 {
			r.Destroy(config{"name": "hello", "purge": random.IntN(2) == 0, "hold": true})
			held = false
			continue
		}
		r.Apply(c)
		r.Valid(c)
	}
}

func TestPackage_FullDiskIsReported(t *testing.T) {
	fresh(t)
	kindtest.Shell(t, "mount -t tmpfs -o size=8k tmpfs /var/cache/apt/archives && mkdir /var/cache/apt/archives/partial")
	r := pkg(t)
	r.Fails(config{"name": "hello"}, "install failed", "free space")
	if v := version(t, "hello"); v != "" {
		t.Errorf("it is %s", v)
	}
	kindtest.Shell(t, "umount /var/cache/apt/archives")
	r.Apply(config{"name": "hello"})
}

func TestPackage_NeedsApt(t *testing.T) {
	kindtest.Shell(t, "mv /usr/bin/apt-get /usr/bin/apt-get.away; touch /usr/bin/dnf")
	defer kindtest.Shell(t, "mv /usr/bin/apt-get.away /usr/bin/apt-get; rm /usr/bin/dnf")
	pkg(t).Fails(config{"name": "hello"}, "config", "this machine has dnf")
}
