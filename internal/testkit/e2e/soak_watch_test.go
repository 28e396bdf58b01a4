//go:build soak

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deployster/internal/base/proc"
)

// How long the soak lasts, and what it is to show. DEPLOYSTER_WATCH_SOAK=30m is the one
// that counts; without it all that it does is done once or twice. It needs a machine for
// itself, and is built with -tags soak only.
const (
	soakVariable = "DEPLOYSTER_WATCH_SOAK"
	soakShort    = 20 * time.Second
	soakCounts   = 10 * time.Minute // from which on the slopes are held to soakSlope
	soakSlope    = 0.02             // from the first half of what is left after the beginning to the second
	soakBegins   = 0.4              // of the time is the beginning: caches, the heap and the runs that are kept fill up
	soakKept     = 20               // applies of a person whose runs are kept: from the beginning on there are as many
	soakDies     = 10               // seconds at most, until what was killed has let go of its files
	soakRests    = 90 * time.Second // from the last change on: then only what watches is there
	soakSettles  = 12 * time.Minute // at most, as what flaps is held back for ten: until all is as declared when nothing disturbs it any more
)

// soak is a watch that lives for long, with all that happens in months: drift, people,
// kills.
type soak struct {
	t          *testing.T
	work, data string
	environ    []string
	lasts      time.Duration
	workers    int // resources of a type that a worker watches; there are a few of two others

	began                     time.Time
	watch                     *exec.Cmd
	ended                     chan error
	kills                     map[string]int
	killed                    atomic.Int64 // all of them
	killedAt                  atomic.Int64 // the last of them, in seconds
	drifts, applies, restarts int
	samples                   []map[string]float64
}

// TestWatch_Soak lets things be removed, a person apply, and the watch, its workers and its
// containerd be killed. The watch is killed in the first quarter only: after the
// beginning neither its memory grows, nor its goroutines, nor what it has open or keeps on
// the disk, and at rest no more runs on the machine than before. In the end all is as it
// was declared.
func TestWatch_Soak(t *testing.T) {
	t.Parallel()
	s := &soak{t: t, lasts: soakShort, workers: 30, kills: map[string]int{}}
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		if s.lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		s.workers = 990
	}
	s.prepare()
	s.start()
	s.settles()
	before := s.rests()
	s.began = time.Now()
	s.disturb()
	s.settles()
	s.stop()
	s.start() // at once, so that its containerd stays: a program that died often is not begun again for long by the one before
	s.settles()
	if after := s.rests(); after > before {
		t.Errorf("at rest there are %d processes and mounts, and were %d before:\n%s", after, before, users(s.data))
	} else {
		t.Logf("processes and mounts at rest: %d before, %d after", before, after)
	}
	s.stop()
	s.must("apply", "-auto-approve")
	if out := s.must("apply", "-auto-approve"); !strings.Contains(out, "No changes") {
		t.Errorf("the last apply found something to do:\n%s", out)
	}
	s.report()
}

// prepare makes the project: 5 things that are polled, 5 notes that tell of themselves
// one container each, and disks that one worker tells of.
func (s *soak) prepare() {
	root, err := os.Getwd()
	if err != nil {
		s.t.Fatal(err)
	}
	s.work = s.t.TempDir()
	if s.data, err = os.MkdirTemp("", "dw"); err != nil {
		s.t.Fatal(err)
	}
	s.environ = append(os.Environ(), "HOME="+s.work, "DEPLOYSTER_DATA_DIR="+s.data, "DEPLOYSTER_IDLE_EXIT=2s", "DEPLOYSTER_RUNC="+safeRunc(root),
		"WORK="+s.work)
	s.t.Cleanup(func() {
		e := &ending{t: &failing{T: s.t, failed: true}, work: s.work, data: []string{s.data}}
		_ = s.command("image", "list").Run() // sweeps after who was killed; if it fails something is left, and told
		if e.end(); s.t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.data, "server.log"))
			out, _ := os.ReadFile(filepath.Join(s.work, "out"))
			s.t.Logf("the server's log:\n%s\nthe watch:\n%s", last(log), last(out))
		}
		if err := removeData(s.data); err != nil {
			s.t.Error(err)
		}
	})
	for _, dir := range []string{"world", "notes", "disk", "thing/bin"} {
		if err := os.MkdirAll(filepath.Join(s.work, dir), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(s.work, "disk", "disk"), "./internal/testkit/bench/disk")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	s.must("image", "pack", "-t", "soak/disk:1", "-entrypoint", "/disk", "disk")
	s.must("image", "pack", "-t", "soak/note:1", "-shell", filepath.Join(root, "docs/examples/watch/type.sh"))
	s.must("image", "pack", "-t", "soak/thing:1", "-shell", filepath.Join(root, "testdata/types/thing/type.sh"))
	m := "plug \"world\" {\n  path = \"world\"\n}\nplug \"notes\" {\n  path = \"notes\"\n}\n"
	for i := range s.workers {
		m += fmt.Sprintf("resource \"d%d\" {\n  type = \"soak/disk:1\"\n  config = { name = \"disk-%d\", zone = \"eu\" }\n}\n", i, i)
	}
	for i := range 5 {
		m += fmt.Sprintf("resource \"t%d\" {\n  type = \"soak/thing:1\"\n  config = { size = 1 }\n}\n", i)
		m += fmt.Sprintf("resource \"n%c\" {\n  type = \"soak/note:1\"\n  config = { name = \"n%c\", text = \"day\" }\n}\n", 'a'+i, 'a'+i)
	}
	if err := os.WriteFile(filepath.Join(s.work, "main.hcl"), []byte(m), 0o600); err != nil {
		s.t.Fatal(err)
	}
	for range soakKept {
		for range 10 {
			s.drift()
		}
		s.must("apply", "-auto-approve")
	}
	s.drifts = 0
}

func last(text []byte) []byte { return text[max(0, len(text)-4000):] }

// command is the real command in the project.
func (s *soak) command(args ...string) *exec.Cmd {
	c := exec.Command("deployster", args...)
	c.Dir, c.Env = s.work, s.environ
	return c
}

func (s *soak) must(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("deployster %v: %v\n%s", args, err, last(out))
	}
	return string(out)
}

// start starts the watch, as systemd does again and again.
func (s *soak) start() {
	out, err := os.OpenFile(filepath.Join(s.work, "out"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = out.Close() }() // its child has it
	s.watch = s.command("watch", "-poll=30s", "-metrics=unix:metrics.sock")
	s.watch.Stdout, s.watch.Stderr = out, out
	if err := s.watch.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan error, 1)
	go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(s.watch, s.ended)
}

// disturb does what happens, and takes samples, until the time is over.
func (s *soak) disturb() {
	every := func(parts int) *time.Ticker { return time.NewTicker(s.lasts / time.Duration(parts)) }
	// With 5 drifts a second each of 1,000 resources drifts three times in ten minutes: more
	// would be held back as flapping, and be no work. A containerd starts in a second or more.
	// The runs of twenty applies are kept: there are as many in the beginning.
	drift, person, kill, sample := time.NewTicker(200*time.Millisecond), every(75), time.NewTicker(6*time.Second), every(360)
	if s.workers < 100 {
		drift, person, kill = time.NewTicker(300*time.Millisecond), every(4), every(12)
	}
	applied := make(chan error)
	for end, applying := time.After(s.lasts), false; ; {
		select {
		case <-end:
			if applying {
				<-applied
			}
			return
		case err := <-s.ended:
			if out, _ := os.ReadFile(filepath.Join(s.work, "out")); bytes.Contains(out, []byte(" watching ")) {
				s.t.Fatalf("the watch ended by itself: %v", err)
			}
			s.restarts++ // its containerd was killed while it started: systemd starts it again
			s.start()
		case <-drift.C:
			s.drift()
		case <-sample.C:
			s.sample()
		case <-kill.C:
			s.kill()
		case <-person.C:
			if !applying {
				applying = true
				go func() { applied <- s.person() }()
			}
		case err := <-applied:
			if applying = false; err != nil {
				s.t.Error(err)
			}
			s.applies++
		}
	}
}

// person applies. That may fail where something is killed meanwhile: an action that was
// killed is not done again unasked. It fails truly where what it has just made is removed
// before it is asked for. Repairs of many in containers take long.
func (s *soak) person() error {
	before, quiet := s.killed.Load(), time.Now().Unix()-s.killedAt.Load() > soakDies
	out, err := s.command("apply", "-auto-approve", "-lock-timeout=10m").CombinedOutput()
	if err == nil || s.killed.Load() != before || !quiet {
		return nil
	}
	if errs := regexp.MustCompile(`(?m)^Error: .*(\n  .*)*`).FindAll(out, -1); len(errs) > 0 {
		errs = slices.DeleteFunc(errs, func(e []byte) bool {
			return bytes.HasPrefix(e, []byte("Error: Still not up to date after its actions"))
		})
		if out = bytes.Join(errs, []byte("\n")); len(errs) == 0 {
			return nil
		}
	}
	return fmt.Errorf("a person's apply: %w\n%s", err, last(out))
}

// files are what the resources are.
func (s *soak) files() (list []string) {
	for i := range s.workers {
		list = append(list, fmt.Sprintf("world/disk-%d", i))
	}
	for i := range 5 {
		list = append(list, fmt.Sprintf("world/t%d", i), fmt.Sprintf("notes/n%c", 'a'+i))
	}
	return list
}

// drift removes what a resource is.
func (s *soak) drift() {
	list := s.files()
	if os.Remove(filepath.Join(s.work, list[rand.IntN(len(list))])) == nil {
		s.drifts++
	}
}

// early reports whether it is the first quarter.
func (s *soak) early() bool { return time.Since(s.began) < s.lasts/4 }

// kill kills the watch, a worker, or the containerd. The watch is killed in the first
// quarter only. After that a third as much is killed, and workers seldom: of one that dies
// three times in ten minutes no more are started for a while, and nothing would be asked
// through them.
func (s *soak) kill() {
	if !s.early() && rand.IntN(3) > 0 {
		return
	}
	s.killed.Add(1)
	s.killedAt.Store(time.Now().Unix())
	total := s.kills["watch"] + s.kills["worker"] + s.kills["containerd"]
	switch {
	case s.early() && total%2 == 0:
		s.kills["watch"]++
		_ = s.watch.Process.Kill() // it cannot have ended: nobody has waited for it
		<-s.ended
		s.start()
	case s.early() && rand.IntN(2) == 0, rand.IntN(16) == 0:
		s.killOne("worker", func(line string) bool { return strings.HasPrefix(line, "/disk\x00") && !strings.Contains(line, s.data) })
	default:
		s.killOne("containerd", func(line string) bool {
			return strings.HasPrefix(line, "deployster-containerd\x00") && strings.Contains(line, s.data)
		})
	}
}

// killOne kills one of the processes below the test whose command line is of a kind.
func (s *soak) killOne(what string, is func(line string) bool) {
	lines, _ := proc.Files("cmdline")
	for _, i := range rand.Perm(len(lines)) {
		line, err := os.ReadFile(lines[i])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(lines[i])))
		if err != nil || !is(string(line)) || what == "worker" && !s.mine(pid) {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			s.kills[what]++
		}
		return
	}
}

// mine reports whether a process in a container is one of this test's: its plug is.
func (s *soak) mine(pid int) bool {
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	return err == nil && bytes.Contains(mounts, []byte(s.work+"/world "))
}

// sample notes how much there is of what could grow.
func (s *soak) sample() {
	logs, _ := filepath.Glob(filepath.Join(s.data, "server.log*")) // bounded, and full after hours
	list, _ := os.ReadDir(filepath.Join(s.work, ".deployster", "runs"))
	records := s.disk(filepath.Join(s.work, ".deployster", "runs"))
	one := map[string]float64{"runs": float64(len(list)), "runs KiB": records,
		"disk KiB":             s.disk(s.data) + s.disk(runtimeOf(s.data)) + s.disk(filepath.Join(s.work, ".deployster")) - records,
		"processes and mounts": float64(strings.Count(users(s.data), "\n"))}
	for _, path := range logs {
		one["disk KiB"] -= s.disk(path)
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.work, "metrics.sock"))
	}}}
	response, err := client.Get("http://watch/metrics")
	if err != nil {
		return // it has just been started
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return
	}
	for name, metric := range map[string]string{"goroutines": "go_goroutines", "open files": "process_open_fds",
		"resident MiB": "process_resident_memory_bytes", "live heap MiB": "go_memstats_heap_inuse_bytes"} {
		if m := regexp.MustCompile(`(?m)^` + metric + ` (\S+)$`).FindSubmatch(text); m != nil {
			one[name], _ = strconv.ParseFloat(string(m[1]), 64)
		}
		if strings.HasSuffix(name, "MiB") {
			one[name] /= 1 << 20
		}
	}
	one["at"] = time.Since(s.began).Seconds()
	s.samples = append(s.samples, one)
}

// disk is what a directory takes, without what is mounted below it.
func (s *soak) disk(dir string) (kib float64) {
	var at uint64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has just been removed
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		stat, _ := info.Sys().(*syscall.Stat_t)
		if at == 0 {
			at = stat.Dev
		}
		if stat.Dev != at {
			return fs.SkipDir // a file is no mount point here
		}
		kib += float64(stat.Blocks) / 2
		return nil
	})
	return kib
}

// settles waits until all is there.
func (s *soak) settles() {
	s.t.Helper()
	var missing []string
	for end := time.Now().Add(soakSettles); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		missing = slices.DeleteFunc(s.files(), func(f string) bool { return exists(filepath.Join(s.work, f)) })
		if len(missing) == 0 {
			return
		}
	}
	s.t.Errorf("after %s there are not yet %d, such as %s", soakSettles, len(missing), missing[0])
}

// rests waits until what is kept for the next command has gone, and gives how many processes
// and mounts there are then, but for those of a poll.
func (s *soak) rests() (least int) {
	time.Sleep(soakRests)
	least = math.MaxInt
	for range 30 {
		least = min(least, strings.Count(users(s.data), "\n")+1)
		time.Sleep(time.Second)
	}
	return least
}

// stop ends the watch.
func (s *soak) stop() {
	_ = s.watch.Process.Signal(syscall.SIGTERM)
	if err := <-s.ended; err != nil {
		s.t.Errorf("the watch: %v", err)
	}
}

// report says what grew, and holds that to the limit where the time was long enough.
func (s *soak) report() {
	s.t.Logf("%s: %d drifts, %d applies of a person, killed: %v, then started again by itself: %d", s.lasts, s.drifts, s.applies, s.kills, s.restarts)
	half := soakBegins + (1-soakBegins)/2
	for _, name := range []string{"goroutines", "open files", "resident MiB", "live heap MiB", "disk KiB", "runs", "runs KiB",
		"processes and mounts"} {
		first, second := s.usual(name, soakBegins, half), s.usual(name, half, 1)
		grown := 0.0
		if first > 0 {
			grown = second/first - 1
		}
		s.t.Logf("%-20s %10.0f %10.0f  %+.1f %%", name, first, second, 100*grown)
		if name == "runs KiB" || name == "processes and mounts" {
			continue // as much as happened, and as is under way: how many runs there are, and what is left at rest, is held to the limit
		}
		if s.lasts >= soakCounts && grown > soakSlope && second-first > 2 {
			s.t.Errorf("%s grew by %.1f %% from one half of the time after the beginning to the other", name, 100*grown)
		}
	}
}

// usual is how much there was in a part of the time when little went on: a tenth of the
// samples has less. What is left behind adds to that, what just goes on does not.
func (s *soak) usual(name string, from, to float64) float64 {
	var list []float64
	for _, one := range s.samples {
		v, seen := one[name]
		if at := one["at"] / s.lasts.Seconds(); seen && at >= from && at < to {
			list = append(list, v)
		}
	}
	if slices.Sort(list); len(list) == 0 {
		return 0
	}
	return list[len(list)/10]
}
