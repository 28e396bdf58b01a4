package scale_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"
)

// The floor of a plan is what its parts take that are not ours. The benchmarks
// below give each of them the same work as a plan of so many resources does.

// BenchmarkFloorParse is hcl's parser alone, on all processors, over the files
// that BenchmarkLoad reads.
func BenchmarkFloorParse(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		for b.Loop() {
			var group errgroup.Group
			group.SetLimit(runtime.GOMAXPROCS(0))
			for _, f := range e.sources.Manifests {
				group.Go(func() error {
					if _, diags := hclsyntax.ParseConfig(f.Bytes, f.Path, hcl.InitialPos); diags.HasErrors() {
						return diags
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFloorJSON is encoding/json alone: of each resource its entry in the
// state and the worker's answer are read, and its question is written.
func BenchmarkFloorJSON(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		e.made(b, e.load(b, e.sources))
		state, err := os.ReadFile(e.statePath())
		if err != nil {
			b.Fatal(err)
		}
		type object = map[string]any
		for b.Loop() {
			var whole struct{ Resources map[string]object }
			if err := json.Unmarshal(state, &whole); err != nil || len(whole.Resources) != n {
				b.Fatal(len(whole.Resources), err)
			}
			for address, entry := range whole.Resources {
				line, err := json.Marshal(object{"id": 1, "args": []string{"state"},
					"stdin": object{"name": address, "type": image, "version": "1", "workspace": e.dir,
						"config": entry["config"], "intent": "present", "last_state": entry["state"]}})
				if err != nil {
					b.Fatal(err)
				}
				var reply struct{ Stdout string }
				var answer object
				said := fmt.Appendf(nil, `{"id":1,"stdout":"{\"status\":\"VALID\",\"state\":{\"id\":\"id of %s\",\"size\":%d}}\n"}`, address,
					len(line)%10)
				if json.Unmarshal(said, &reply) != nil || json.Unmarshal([]byte(reply.Stdout), &answer) != nil {
					b.Fatal(string(said))
				}
			}
		}
	})
}

// BenchmarkFloorStart is a whole process that does nothing: `deployster version`.
func BenchmarkFloorStart(b *testing.B) {
	var work int64
	for b.Loop() {
		cmd := exec.Command("../../../bin/deployster", "version")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v, %s (`make build` makes it)", err, out)
		}
		work += int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	}
	b.ReportMetric(float64(work)/float64(b.N), "processor-ns/op")
}
