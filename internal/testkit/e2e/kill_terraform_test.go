//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/base/proc"
	"deployster/internal/testkit/fakeapi"
)

// tally counts what was killed and what came of it.
type tally struct {
	kills, workers, unsettled, adopted int
}

// terraformProject applies things of the test provider, which are in a fake API.
type terraformProject struct {
	*project
	api   *fakeapi.Service
	mark  string // in the environment of the processes of the provider
	adopt map[string]string
	count tally
}

func newTerraformProject(t *testing.T, seed uint64) *terraformProject {
	p := &terraformProject{project: newProject(t), adopt: map[string]string{},
		api: fakeapi.New(t, seed, 40*time.Millisecond)}
	p.mark = "TEST_MARK=" + filepath.Base(p.data)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(p.root, "bin")
	for out, what := range map[string]string{"deployster-terraform": ".", "provider": "./internal/testprovider/terraform-provider-test"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(bin, out), what)
		cmd.Dir, cmd.Env = filepath.Join(root, "bridge"), append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s cannot be built: %v: %s", out, err, text)
		}
	}
	p.must("image", "pack", "-t", "tf/test:1", "-entrypoint", "/deployster-terraform", filepath.Join(bin, "deployster-terraform"), filepath.Join(bin, "provider"))
	return p
}

// write writes the manifest: each thing after the one before it in pairs.
func (p *terraformProject) write(declared map[string]string) {
	p.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "type \"test\" {\n  image = \"tf/test:1\"\n  env = { TEST_MARK = %q }\n}\n", strings.TrimPrefix(p.mark, "TEST_MARK="))
	for i, label := range slices.Sorted(maps.Keys(declared)) {
		adopt, after := "", ""
		if id := p.adopt[label]; id != "" {
			adopt = fmt.Sprintf(", import = %q", id)
		}
		if names := slices.Sorted(maps.Keys(declared)); i%2 == 1 {
			after = fmt.Sprintf("  depends_on = [resource.%s]\n", names[i-1])
		}
		fmt.Fprintf(&b, "resource %q {\n  type = \"${type.test}#test_object\"\n  config = { label = %q, value = %q, provider = { world = %q }%s }\n%s}\n",
			label, label, declared[label], p.api.URL, adopt, after)
	}
	if err := os.WriteFile(filepath.Join(p.work, "main.hcl"), []byte(b.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// processes are the bridge and the provider in the containers of this project.
func (p *terraformProject) processes() (pids []int) {
	found, _ := proc.Files("environ")
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(text), "\x00"), p.mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killedApply applies, and kills something at some moment: the command, the processes of
// the provider, or both.
func (p *terraformProject) killedApply(random *rand.Rand, within time.Duration) (worker bool, output string) {
	p.t.Helper()
	var out bytes.Buffer
	cmd := p.command("apply", "-auto-approve")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	victim := random.IntN(3)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // however it ends
		close(ended)
	}()
	p.moment(random, within, ended)
	if victim != 0 {
		for _, pid := range p.processes() {
			worker = true
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	if victim != 1 {
		_ = cmd.Process.Kill() // it may have ended
	}
	<-ended
	p.count.kills++
	if worker {
		p.count.workers++
	}
	return worker, out.String()
}

// moment waits for one: some time after the start, or after the fake API was asked for
// something, or the end.
func (p *terraformProject) moment(random *rand.Rand, within time.Duration, ended <-chan struct{}) {
	after := time.Duration(random.Int64N(int64(80 * time.Millisecond)))
	if random.IntN(4) == 0 {
		after = time.Duration(random.Int64N(int64(within)))
	} else {
		for until := p.api.Asked() + 1 + random.IntN(4); p.api.Asked() < until; {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	select {
	case <-ended:
	case <-time.After(after):
	}
}

// unsettledOf finds the resources of which nobody knows whether they were made.
var unsettledOf = regexp.MustCompile(`in resource "([a-z]+)"`)

// converge applies until all is as declared; what is not settled is looked for in the
// fake API by a person, and adopted, or said not to be there.
func (p *terraformProject) converge(declared map[string]string, worker bool, first string) error {
	said := first
	for range 60 {
		text, err := p.command("apply", "-auto-approve").CombinedOutput()
		said = string(text)
		var exit *exec.ExitError
		switch {
		case err == nil:
			clear(p.adopt)
			return nil
		case !errors.As(err, &exit):
			return err
		case !strings.Contains(said, "The result of an action is unknown"):
			time.Sleep(100 * time.Millisecond) // an action may still run
			continue
		}
		for _, found := range unsettledOf.FindAllStringSubmatch(said, -1) {
			if !worker {
				return fmt.Errorf("only the command was killed, and yet: %s", said)
			}
			if err := p.resolve(found[1]); err != nil {
				return err
			}
		}
		p.write(declared)
	}
	return fmt.Errorf("it does not end: %s", said)
}

// resolve is what a person does about a thing that may be there.
func (p *terraformProject) resolve(label string) error {
	p.count.unsettled++
	ids := p.api.By(label)
	switch len(ids) {
	case 0:
		if text, err := p.command("resolve", "-as=failed", label).CombinedOutput(); err != nil {
			return fmt.Errorf("resolve: %w: %s", err, text)
		}
		return nil
	case 1:
		p.adopt[label] = ids[0]
		p.count.adopted++
		return nil
	}
	return fmt.Errorf("%s is there %d times", label, len(ids))
}

// Killed at any moment, the command, the bridge and the provider together or apart: what the
// fake API has is what is remembered or not settled, and nothing is made twice. Somebody
// is asked only where a worker has died. DEPLOYSTER_TERRAFORM_KILLS says how often.
func TestTerraform_KilledAnywhere(t *testing.T) {
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("DEPLOYSTER_TERRAFORM_KILLS")); err == nil {
		kills = n
	}
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("DEPLOYSTER_TERRAFORM_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Parallel()
	p := newTerraformProject(t, seed)
	random := rand.New(rand.NewPCG(seed, 2))
	declared := map[string]string{"a": "1", "b": "1"}
	p.write(declared)
	begun := time.Now()
	p.must("apply", "-auto-approve")
	within := time.Since(begun)
	for i := range kills {
		declared = map[string]string{}
		for _, label := range []string{"a", "b", "c", "d", "e", "f"} {
			if random.IntN(10) < 6 {
				declared[label] = strconv.Itoa(random.IntN(3))
			}
		}
		p.write(declared)
		worker, said := p.killedApply(random, within)
		if err := p.converge(declared, worker, said); err != nil {
			t.Fatalf("kill %d: %v\nbefore: %s", i+1, err, said)
		}
		if faults := p.api.Wrong(declared); len(faults) > 0 {
			t.Fatalf("kill %d: %v\nbefore: %s", i+1, faults, said)
		}
	}
	if kills >= 100 && (p.count.workers < kills/4 || p.count.adopted == 0) {
		t.Errorf("it was killed where nothing happens: %+v", p.count)
	}
	t.Logf("%d kills, %d of them of the worker; %d creations were not settled, %d of them had happened; %d things were made",
		p.count.kills, p.count.workers, p.count.unsettled, p.count.adopted, p.api.Made())
}
