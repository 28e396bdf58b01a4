package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/base/encryption"
	"deployster/internal/base/proc"
)

// canaryInput is the file with the secret that a user gives.
const canaryInput = "vars.auto.hcl"

// canarySmall is the size, in bytes, up to which a file of containerd is decoded. In larger ones,
// such as layers, forms of the secrets are searched for as they are.
const canarySmall = 64 << 10

// canarySearch is one search for the secrets.
type canarySearch struct {
	ts     *testscript.TestScript
	except []string // names below the directory of the script
	both   *pieces
	keys   *encryption.Keyring // of encrypted records; nil = there is none
	files  map[string]int      // by kind of place, how many were read
}

// searchCanary fails if a secret is in a file of the script, in the data directories of this
// machine and of hosts (images, containerd's database, snapshots, records) or their run-time
// directories, in what a store keeps, or in the environment or arguments of a process. Not
// searched are:
//
//   - what a user or the type writes on purpose: canaryInput, the plugs, named by the caller;
//   - in a state without encryption the places that it calls sensitive itself, and memory;
//   - of the generated secret, what was printed before the answer that marks it (canary make);
//   - the input and output of what runs just now, and the outcome of an action whose command was
//     killed, until the next one fetches it: in files that only root can read;
//   - programs: the command of a test has the words in it.
func searchCanary(ts *testscript.TestScript, except []string) {
	s := &canarySearch{ts: ts, except: except, both: piecesOf(canaryWord, generatedWord), files: map[string]int{}}
	if key, err := os.ReadFile(ts.MkAbs("my.age")); err == nil {
		s.keys = encryption.New(encryption.AsFound, func() (encryption.Keys, error) {
			return encryption.Keys{Identities: []encryption.Identities{{Name: "my.age", Content: key}}}, nil
		})
	}
	s.walk("script", ts.MkAbs("."), s.script)
	if s.keys != nil && s.files["decrypted"] < 5 {
		ts.Fatalf("only %d encrypted records were read", s.files["decrypted"])
	}
	data := []string{ts.Getenv("DEPLOYSTER_DATA_DIR")}
	if hosts := ts.Getenv("HOSTS"); hosts != "" {
		entries, err := os.ReadDir(hosts)
		ts.Check(err)
		for _, e := range entries {
			data = append(data, filepath.Join(hosts, e.Name()))
		}
	}
	for i, dir := range data {
		kind := "data"
		if i > 0 {
			kind = "host"
		}
		s.walk(kind, dir, s.kept)
		lock, err := os.ReadFile(filepath.Join(dir, "server.lock"))
		if _, runtime, found := strings.Cut(string(lock), "runtime directory "); err == nil && found {
			s.walk(kind+" runtime", strings.TrimSpace(runtime), s.kept)
		}
	}
	if store := ts.Getenv("STORE_DIR"); store != "" {
		s.walk("store", store, s.decoded)
	}
	s.processes()
	for kind, least := range map[string]int{"script": 20, "data": 20, "processes": 10} {
		if s.files[kind] < least {
			ts.Fatalf("only %d files were read of: %s", s.files[kind], kind)
		}
	}
	if ts.Getenv("HOSTS") != "" && s.files["host"] < 20 || ts.Getenv("STORE_DIR") != "" && s.files["store"] == 0 {
		ts.Fatalf("too few files were read: %v", s.files)
	}
	_, err := fmt.Fprintln(ts.Stdout(), s.files)
	ts.Check(err)
}

// walk passes each file below a directory to a check, which returns how it shows a secret.
func (s *canarySearch) walk(kind, root string, check func(name, path string) string) {
	s.ts.Check(filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone meanwhile
		}
		name, _ := filepath.Rel(root, path)
		if kind == "script" && slices.Contains(s.except, name) {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if how := showsCanary(name, canaryWord, generatedWord); how != "" {
			s.ts.Fatalf("%s: the name of %s shows a secret: %s", kind, path, how)
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if to, err := os.Readlink(path); err == nil && showsCanary(to, canaryWord, generatedWord) != "" {
				s.ts.Fatalf("%s: the target of %s shows a secret: %s", kind, path, to)
			}
		}
		if e.Type().IsRegular() {
			if how := check(name, path); how != "" {
				s.ts.Fatalf("%s: %s shows a secret: %s", kind, path, how)
			}
			s.files[kind]++
		}
		return nil
	}))
}

// script checks a file of the script.
func (s *canarySearch) script(name, path string) string {
	if name == canaryInput {
		return ""
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "" // it is gone meanwhile
	}
	if plain, is := s.opened(content); is { // a type may have failed before it marked what it generates
		return showsCanary(string(plain), canaryWord)
	}
	if strings.HasPrefix(name, "deployster.state.json") {
		content = withoutSensitive(s.ts, content)
	}
	if filepath.Dir(name) == canaryMade {
		return showsCanary(string(content), canaryWord)
	}
	return showsCanary(string(content), canaryWord, generatedWord)
}

// opened returns the content of a record that is encrypted with the key of the script.
func (s *canarySearch) opened(content []byte) (plain []byte, is bool) {
	if s.keys == nil || !encryption.Is(content) {
		return nil, false
	}
	plain, err := s.keys.Open(encryption.Record, "a record", content)
	if err != nil {
		plain, err = s.keys.OpenLines(encryption.Record, "a record", content)
	}
	if err == nil {
		s.files["decrypted"]++
	}
	return plain, err == nil
}

// kept checks a file of containerd, or of what a host keeps.
func (s *canarySearch) kept(_, path string) string {
	content, err := os.ReadFile(path)
	if err != nil || bytes.HasPrefix(content, []byte("\x7fELF")) {
		return ""
	}
	how := s.both.in(content)
	if how == "" && len(content) <= canarySmall {
		how = showsCanary(string(content), canaryWord, generatedWord)
	}
	if how != "" && (onlyForRoot(path) || filepath.Base(filepath.Dir(path)) == "outcomes" && isPrivate(path)) {
		return ""
	}
	return how
}

// decoded checks a file of a store.
func (s *canarySearch) decoded(_, path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return showsCanary(string(withoutSensitive(s.ts, content)), canaryWord, generatedWord)
}

// processes checks the environment and the arguments of each process of this machine.
func (s *canarySearch) processes() {
	list, err := proc.Files("")
	s.ts.Check(err)
	for _, p := range list {
		for _, file := range []string{"environ", "cmdline"} {
			content, err := os.ReadFile(filepath.Join(p, file))
			if err != nil {
				continue // it has ended
			}
			s.files["processes"]++
			if how := s.both.in(content); how != "" {
				command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
				s.ts.Fatalf("%s/%s of %q shows a secret: %s", p, file, command, how)
			}
		}
	}
}

// withoutSensitive returns JSON documents of a state without encryption, in which sensitive
// values are by design, without those at the places that the state calls sensitive itself, and
// without memories. What is not JSON is returned unchanged.
func withoutSensitive(ts *testscript.TestScript, content []byte) []byte {
	var out bytes.Buffer
	documents := json.NewDecoder(bytes.NewReader(content))
	documents.UseNumber()
	for {
		from := documents.InputOffset()
		var v any
		if err := documents.Decode(&v); err != nil {
			return append(out.Bytes(), content[from:]...)
		}
		unmark(v)
		ts.Check(json.NewEncoder(&out).Encode(v))
	}
}

// unmark removes what is marked from a part of a state: an entry, what was seen of it, or an output.
func unmark(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "memory")
		switch marked := v["sensitive"].(type) {
		case bool:
			if marked {
				delete(v, "value")
			}
		case []any:
			unmarkParts(v, marked, "config", "state")
		case map[string]any:
			recipe, _ := v["recipe"].(map[string]any) // of an artifact
			for part, pointers := range marked {
				list, _ := pointers.([]any)
				unmarkParts(v, list, part)
				unmarkParts(recipe, list, part)
			}
		}
		for _, inner := range v {
			unmark(inner)
		}
	case []any:
		for _, inner := range v {
			unmark(inner)
		}
	}
}

// unmarkParts removes what is at pointers from members of an object.
func unmarkParts(of map[string]any, pointers []any, parts ...string) {
	for _, part := range parts {
		for _, p := range pointers {
			if inner, there := of[part]; there {
				of[part] = removed(inner, strings.Split(p.(string), "/")[1:])
			}
		}
	}
}

func removed(v any, steps []string) any {
	if len(steps) == 0 {
		return nil
	}
	step := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[0])
	switch v := v.(type) {
	case map[string]any:
		if inner, there := v[step]; there {
			v[step] = removed(inner, steps[1:])
		}
	case []any:
		for i := range v {
			if fmt.Sprint(i) == step {
				v[i] = removed(v[i], steps[1:])
			}
		}
	}
	return v
}
