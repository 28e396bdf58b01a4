package runs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// withSecret returns the files below a directory that have a text in them.
func withSecret(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The action that generates a password prints it before anybody knows that it is one. In a
// small run all have files; in a large one most are lines.
func TestRecorder_CleansWhatBecomesSecretLater(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, KeepAll + 20} {
		dir := t.TempDir()
		var secrets secret.Set
		secrets.Add([]string{"known before"})
		r := New(Options{Workdir: dir, Hide: secrets.Hiding, Known: secrets.Known, Run: Run{ID: NewID(time.Now()), Command: "apply"}})
		for i := range n {
			address, password := fmt.Sprintf("db[%d]", i), fmt.Sprintf("generated-%d<", i)
			r.Add(typeclient.Invocation{Address: address, Step: "state", Stdin: []byte("{}"), Started: time.Now(),
				Result: runner.Result{Stdout: []byte(`{"status":"STALE"}`), Stderr: []byte("will be " + password)}})
			if i == 0 {
				lines, err := r.Events()
				if err != nil {
					t.Fatal(err)
				}
				_, _ = fmt.Fprintf(lines, "{\"type\":\"log\",\"line\":\"it is generated-0\\u003c\",\"n\":1}\n{\"type\":\"end\"}\n")
				if err := lines.Close(); err != nil {
					t.Fatal(err)
				}
			}
			r.Add(typeclient.Invocation{Address: address, Step: "make", Stdin: []byte("{}"), Started: time.Now(),
				Result: runner.Result{Stdout: []byte("it is " + password + "\n")}})
			secrets.Learn([]string{password})
			r.Add(typeclient.Invocation{Address: address, Step: "state", Stdin: []byte("{}"), Started: time.Now(),
				Result: runner.Result{Stdout: []byte(`{"status":"VALID","state":{"password":"` + password + `"}}`)}})
		}
		actions := filepath.Join(r.dir, "db[0]")
		if found := withSecret(t, actions, "generated-"); len(found) > 0 {
			t.Errorf("%d: when it became known it stayed in %q", n, found)
		}
		end(t, r)
		if found := withSecret(t, dir, "generated-"); len(found) > 0 {
			t.Errorf("%d: %q", n, found)
		}
		run, err := Find(dir, "latest")
		if err != nil {
			t.Fatal(err)
		}
		steps, err := run.Steps("db[0]")
		if err != nil || len(steps) != 3 {
			t.Fatalf("%d: %d steps, %v", n, len(steps), err)
		}
		if text, err := steps[1].Read(Stdout); err != nil || string(text) != "it is "+secret.Masked+"\n" {
			t.Errorf("%d: %q, %v", n, text, err)
		}
		if content, err := run.Events(); err != nil || !strings.Contains(string(content), `"line":"it is `+secret.Masked+`","n":1`) {
			t.Errorf("%s, %v", content, err)
		}
	}
}

func TestRecorder_CleansEncryptedRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var secrets secret.Set
	keys := encryption.New(encryption.Encrypt, func() (encryption.Keys, error) {
		return encryption.Keys{Passphrases: []string{"passphrase of the test"}}, nil
	})
	r := New(Options{Workdir: dir, Hide: secrets.Hiding, Known: secrets.Known, Keys: keys, Run: Run{ID: NewID(time.Now()), Command: "apply"}})
	r.Add(typeclient.Invocation{Address: "db", Step: "make", Stdin: []byte("{}"), Result: runner.Result{Stdout: []byte("it is generated")}})
	lines, err := r.Events()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(lines, "{\"line\":\"it is generated\"}\n")
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	secrets.Learn([]string{"generated"})
	end(t, r)
	run, err := Find(dir, "latest")
	if err != nil {
		t.Fatal(err)
	}
	run = run.WithKeys(keys)
	steps, err := run.Steps("db")
	if err != nil || len(steps) != 1 {
		t.Fatal(steps, err)
	}
	text, err := steps[0].Read(Stdout)
	if err != nil || string(text) != "it is "+secret.Masked {
		t.Errorf("%q, %v", text, err)
	}
	if content, err := run.Events(); err != nil || string(content) != `{"line":"it is `+secret.Masked+"\"}\n" {
		t.Errorf("%q, %v", content, err)
	}
}

// A secret that was printed with escapes has more of them in a record, which is JSON; in a
// large run the answer of a type is JSON in a line.
func TestRecorder_CleansEscapedSecrets(t *testing.T) {
	t.Parallel()
	const password = `gen"<1>`
	printed := strconv.Quote(strconv.Quote(password))
	answer, err := json.Marshal(map[string]string{"status": "STALE", "text": "it is " + printed})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, KeepAll + 20} {
		dir := t.TempDir()
		var secrets secret.Set
		secrets.Add([]string{"known before"})
		r := New(Options{Workdir: dir, Hide: secrets.Hiding, Known: secrets.Known, Run: Run{ID: NewID(time.Now()), Command: "apply"}})
		for i := range n {
			r.Add(typeclient.Invocation{Address: fmt.Sprintf("db[%d]", i), Step: "state", Stdin: answer, Started: time.Now(),
				Result: runner.Result{Stdout: answer, Stderr: []byte(printed)}})
		}
		lines, err := r.Events()
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(map[string]string{"type": "log", "line": "it is " + printed})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = lines.Write(append(line, '\n'))
		if err := lines.Close(); err != nil {
			t.Fatal(err)
		}
		secrets.Learn([]string{password})
		end(t, r)
		if found := withSecret(t, dir, "gen"); len(found) > 0 {
			t.Errorf("%d: %q", n, found)
		}
	}
}
