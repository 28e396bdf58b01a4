package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// BenchmarkCold compares 200 cold runs, 8 at a time, with a bare client's, in
// turns, and says what process has taken the processor's time of both.
func BenchmarkCold(b *testing.B) {
	runs, parallel := 200, 8
	if testing.Short() { // only checks that it runs
		runs, parallel = 2, 1
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		b.Fatal(err) // the shims would be nobody's to wait for
	}
	o := embedded(b)
	r := open(b, o)
	dgst := pack(b, r, imagestore.PackOptions{Entrypoint: []string{"/bin/cat"}}, nil)
	plain := newBare(b, r, dgst)
	in := []byte("some input\n")
	ways := map[string]func() ([]byte, error){
		"run": func() ([]byte, error) {
			res, err := r.Run(context.Background(), runner.Spec{Name: "bench", Kind: runner.Query, Digest: dgst, Stdin: in, MaxStdout: 1 << 20})
			return res.Stdout, err
		},
		"bare": func() ([]byte, error) { return plain.run(in) },
	}
	batch := func(name string, n int) work {
		before := taken(o)
		start := time.Now()
		var group errgroup.Group
		group.SetLimit(parallel)
		for range n {
			group.Go(func() error {
				stdout, err := ways[name]()
				if err == nil && string(stdout) != string(in) {
					err = fmt.Errorf("got %q", stdout)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatal(name, err)
		}
		wall := time.Since(start)
		time.Sleep(500 * time.Millisecond) // what is cleared away later is work too
		w := taken(o).minus(before, n)
		w["wall"] = wall / time.Duration(n)
		b.Log(name, w)
		return w
	}
	all := map[string][]work{}
	batch("run", parallel)
	batch("bare", parallel)
	for i := 0; b.Loop(); i++ {
		order := []string{"run", "bare"}
		for _, name := range []string{order[i%2], order[1-i%2]} {
			all[name] = append(all[name], batch(name, runs))
		}
	}
	for _, of := range []string{"wall", "all", "client", "server", "start", "shim"} {
		ours, theirs := median(all["run"], of), median(all["bare"], of)
		b.ReportMetric(ours, "run-"+of+"-ms")
		b.ReportMetric(theirs, "bare-"+of+"-ms")
		if of == "wall" || of == "all" {
			b.ReportMetric(ours/theirs, of+"-ratio")
		}
	}
	nothingLeft(b, r)
}

// work is the processor's time that kinds of processes have taken: the client,
// the server, the helpers that start shims, and the shims with runc and the
// program.
type work map[string]time.Duration

// minus is what was taken since, for each of so many runs.
func (w work) minus(before work, runs int) work {
	out := work{}
	for of, d := range w {
		out[of] = (d - before[of]) / time.Duration(runs)
		out["all"] += out[of]
	}
	return out
}

func median(all []work, of string) float64 {
	var list []float64
	for _, w := range all {
		list = append(list, float64(w[of])/float64(time.Millisecond))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// taken returns what was taken so far. The shims come to this process when those
// who start them have ended, which must have been told that it wants orphans;
// so they are waited for here.
func taken(o Options) work {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			break
		}
	}
	var self, children unix.Rusage
	_, _ = unix.Getrusage(unix.RUSAGE_SELF, &self), unix.Getrusage(unix.RUSAGE_CHILDREN, &children) // both are known
	w := work{"client": spent(self), "shim": spent(children)}
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(serverPid(o)), "stat"))
	if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 14 {
		ticks := func(i int) time.Duration {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			return time.Duration(n) * time.Second / 100
		}
		w["server"], w["start"] = ticks(11)+ticks(12), ticks(13)+ticks(14)
	}
	return w
}

func spent(r unix.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
