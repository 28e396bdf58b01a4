package identity_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var terraform = flag.String("terraform", "", "the terraform that is measured, for `make edits`")

// terraformResults is what `make edits` has measured: a row for each edit.
const terraformResults = "testdata/terraform.json"

// theirs is the language of terraform. A change of the id replaces a terraform_data, as
// providers do with what names a thing.
func theirs() dialect {
	return dialect{reference: "terraform_data", config: "input", state: "output", block: func(name, meta, _, id, v string) string {
		return fmt.Sprintf("resource \"terraform_data\" %q {\n  %s\n  input = { id = %s, v = %s }\n  triggers_replace = [%s]\n}\n", name, meta, id, v, id)
	}}
}

// measured is what terraform made of an edit.
type measured struct {
	Plan string   // its counts
	Ends []string // what is there then: the order of what does not depend on each other is not always the same
}

// repeated is how often each edit is carried out.
const repeated = 4

// TestEdits_Terraform carries the edits out with terraform, and writes down what comes
// of them. Without one there is nothing to measure, and what was measured is held to
// the edits of today.
func TestEdits_Terraform(t *testing.T) {
	t.Parallel()
	if *terraform == "" {
		for name := range readMeasured(t) {
			if !slices.ContainsFunc(edits(), func(e edit) bool { return e.name == name && !e.alone }) {
				t.Errorf("%s was measured, and is no edit", name)
			}
		}
		return
	}
	all := map[string]measured{}
	for _, e := range edits() {
		if e.alone {
			continue
		}
		var m measured
		for range repeated {
			once, end, err := measure(t, e)
			if err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			m.Plan, m.Ends = once, append(m.Ends, end)
		}
		slices.Sort(m.Ends)
		m.Ends = slices.Compact(m.Ends)
		t.Logf("%s: %+v", e.name, m)
		all[e.name] = m
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err == nil {
		err = os.WriteFile(terraformResults, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readMeasured reads what was measured.
func readMeasured(t *testing.T) map[string]measured {
	t.Helper()
	text, err := os.ReadFile(terraformResults)
	all := map[string]measured{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// measure carries out one edit. Who cares for things destroys and makes them as
// terraform says that it does, one after the other: these are the counts of the plan,
// and what is there in the end.
func measure(t *testing.T, e edit) (plan, end string, err error) {
	dir := t.TempDir()
	manifests := [][]part{e.before, e.after}
	if e.then != nil {
		manifests = append(manifests, e.then)
	}
	things, was, out := map[string]bool{}, map[string]string{}, ""
	for i, parts := range manifests {
		err := rewrite(dir, parts)
		if err == nil && slices.ContainsFunc(parts, func(p part) bool { return p.module != "" }) {
			_, err = command(dir, "get")
		}
		if err == nil && i == 1 && e.forget != "" {
			_, err = command(dir, "state", "rm", "terraform_data."+e.forget)
		}
		if err != nil {
			return "", "", err
		}
		if out, err = command(dir, "apply", "-no-color", "-input=false", "-auto-approve", "-parallelism=1"); err != nil && i == 0 {
			return "", "", fmt.Errorf("%w: %s", err, out)
		}
		is, err := known(dir)
		if err != nil {
			return "", "", err
		}
		for _, line := range regexp.MustCompile(`(?m)^(\S+): (Destruction|Creation) complete`).FindAllStringSubmatch(out, -1) {
			if line[2] == "Creation" {
				things[is[line[1]]] = true
			} else {
				delete(things, cmp.Or(was[line[1]], was[line[1]+"[0]"], was[strings.TrimSuffix(line[1], "[0]")])) // a count that came or went
			}
		}
		was = is
	}
	return counts(out), strings.Join(slices.Sorted(maps.Keys(things)), " "), nil
}

// rewrite writes manifests in the place of all that there were.
func rewrite(dir string, parts []part) error {
	old, err := filepath.Glob(filepath.Join(dir, "*", "*.tf"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	for path, text := range files(theirs(), parts, ".tf") {
		at := filepath.Join(dir, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600))
	}
	return err
}

// known gives the ids of the things in the state, by their addresses.
func known(dir string) (map[string]string, error) {
	type module struct {
		Resources []struct {
			Address string
			Values  struct{ Input struct{ ID int } }
		}
		Children []module `json:"child_modules"`
	}
	var shown struct {
		Values struct {
			Root module `json:"root_module"`
		}
	}
	out, err := command(dir, "show", "-json")
	if err == nil {
		err = json.Unmarshal([]byte(out[max(0, strings.IndexByte(out, '{')):]), &shown)
	}
	ids := map[string]string{}
	for open := []module{shown.Values.Root}; len(open) > 0; open = open[1:] {
		for _, r := range open[0].Resources {
			ids[r.Address] = fmt.Sprint(r.Values.Input.ID)
		}
		open = append(open, open[0].Children...)
	}
	return ids, err
}

func command(dir string, args ...string) (string, error) {
	cmd := exec.Command(*terraform, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// counts is what a plan comes to.
func counts(out string) string {
	if found := regexp.MustCompile(`Error: ([^\n]+)`).FindStringSubmatch(out); found != nil {
		return "error: " + strings.TrimSuffix(found[1], ".")
	}
	if found := regexp.MustCompile(`Plan: ([^\n]+)\.\n`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	return "no changes"
}
