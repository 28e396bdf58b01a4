package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// What is really said between the tool and images, in all scripts and by all
// hostile images, is held against the published schemas: what is sent must
// match them, and what is answered must match exactly when the tool takes it.

// maxRecorded is the largest message that is looked at.
const maxRecorded = 256 << 10

// checkMessages looks through the records below a directory, and counts what it
// has seen.
func checkMessages(dir string) (seen int, err error) {
	var wrong []error
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.Contains(path, "/.deployster/runs/") {
			return err
		}
		if e.Name() == "invocations.jsonl" {
			n, err := checkLines(path)
			seen, wrong = seen+n, append(wrong, err)
		}
		if e.Name() != "stdin.json" || !exists(filepath.Join(filepath.Dir(path), "meta.json")) {
			return nil // what was killed while it recorded an invocation has no metadata of it
		}
		seen++
		if err := checkInvocation(filepath.Dir(path)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", filepath.Dir(path), err))
		}
		return nil
	})
	return seen, errors.Join(append(wrong, err)...)
}

// sent is what tells the kinds of input apart.
type sent struct {
	Action   *string         `json:"action"`
	Config   json.RawMessage `json:"config"`
	Intent   protocol.Intent `json:"intent"`
	Protocol *struct{}       `json:"protocol"`
	Plan     json.RawMessage `json:"plan"`
	Event    json.RawMessage `json:"event"`
	Needs    json.RawMessage `json:"dependencies"`

	Operation *string  `json:"operation"`
	Unknown   []string `json:"unknown"`
}

func checkInvocation(dir string) error {
	stdin, err := os.ReadFile(filepath.Join(dir, "stdin.json"))
	if err != nil {
		return err
	}
	if of := filepath.Base(filepath.Dir(dir)); strings.HasPrefix(of, "artifact.") || strings.HasPrefix(of, "publish.") {
		return checkArtifactInput(filepath.Base(dir), stdin)
	}
	if bytes.HasPrefix(stdin, []byte(`{"source":`)) {
		return checkArtifactInput(filepath.Base(dir), stdin) // a notification by an image of Concourse
	}
	answer, err := os.ReadFile(filepath.Join(dir, "stdout"))
	return errors.Join(err, checkConversation(stdin, answer))
}

// artifactKeys are what images of artifacts are sent, by step: those of Concourse refuse
// any other key.
var artifactKeys = map[string][][]string{
	"check":  {{"source"}, {"source", "version"}, {"config", "from", "response_path"}},
	"get":    {{"source", "version"}, {"params", "source", "version"}, {"config", "space", "version"}},
	"notify": {{"source"}, {"params", "source"}},
	"put":    {{"source"}, {"params", "source"}, {"config", "response_path"}},
}

func checkArtifactInput(step string, stdin []byte) error {
	if encryption.Is(stdin) {
		return nil
	}
	var message map[string]json.RawMessage
	if err := json.Unmarshal(stdin, &message); err != nil {
		return err
	}
	step, _, _ = strings.Cut(step, "-") // of several with one name
	keys := slices.Sorted(maps.Keys(message))
	if want, known := artifactKeys[step]; known && !slices.ContainsFunc(want, func(w []string) bool { return slices.Equal(w, keys) }) {
		return fmt.Errorf("a %s was sent the keys %v, and none but one of %v are allowed", step, keys, want)
	}
	return nil
}

// checkLines looks at the invocations that have no files of their own.
func checkLines(path string) (seen int, err error) {
	content, err := os.ReadFile(path)
	if err != nil || encryption.Is(content) {
		return 0, err
	}
	for line := range bytes.Lines(content) {
		var said struct{ Stdin, Stdout string }
		if json.Unmarshal(line, &said) != nil || said.Stdin == "" || strings.HasPrefix(said.Stdin, `{"source":`) {
			continue // it was killed over it, or it did not begin it itself
		}
		seen++
		if wrong := checkConversation([]byte(said.Stdin), []byte(said.Stdout)); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, wrong))
		}
	}
	return seen, err
}

// checkConversation looks at what an image was sent, and what it answered.
func checkConversation(stdin, answer []byte) error {
	if len(stdin) > maxRecorded || encryption.Is(stdin) {
		return nil
	}
	var in sent
	if err := json.Unmarshal(stdin, &in); err != nil {
		return err
	}
	if in.Event != nil { // its output is a log
		return matches("notify-input", stdin)
	}
	if in.Operation != nil && in.Protocol != nil { // its output is a log
		return matches("operation-input", stdin)
	}
	if in.Unknown != nil && in.Intent == "" && in.Plan == nil {
		return checkValidation(stdin, answer)
	}
	if in.Needs == nil && in.Protocol != nil && in.Intent == "" && in.Plan == nil { // what it prints is not recorded
		return matches("secret-input", stdin)
	}
	version := 2
	if in.Protocol == nil {
		version = 1
	}
	kind := "state"
	switch {
	case in.Plan != nil:
		return checkPolicy(stdin, answer)
	case in.Action != nil:
		kind = "action"
	case in.Protocol != nil && in.Intent == "":
		kind = "init"
	}
	if err := matches(schemaName(kind+"-input", version), stdin); err != nil {
		return fmt.Errorf("what was sent does not match: %w", err)
	}
	if encryption.Is(answer) || kind == "action" || len(answer) > maxRecorded {
		return nil
	}
	var refused, mismatch error
	if kind == "init" {
		ty, err := (stub{answer: answer}).client().Init(context.Background(), typeclient.Target{Address: "x", Reference: "x"})
		refused = onlyProtocol(err)
		if mismatch = matches("init-answer", answer); mismatch != nil && (err != nil || ty.Protocol == 1) {
			mismatch = matches("init-answer-1", answer)
		}
		if err == nil && ty.Policy != nil {
			mismatch = matches("policy-init-answer", answer)
		}
		var says struct{ Secret json.RawMessage }
		if json.Unmarshal(answer, &says) == nil && says.Secret != nil {
			_, err = (stub{answer: answer}).client().Describe(context.Background(), typeclient.Target{Address: "x", Reference: "x"})
			refused, mismatch = onlyProtocol(err), matches("secret-init-answer", answer)
		}
	} else {
		ty := protocol.Type{Protocol: version, Digest: "sha256:x", Absent: true, Memory: true}
		_, err := (stub{answer: answer}).client().State(context.Background(), typeclient.Target{Address: "x", Reference: "x"}, ty,
			protocol.StateInput{Intent: in.Intent})
		refused = onlyProtocol(err)
		name := "state-answer"
		if in.Intent == protocol.Absent {
			name = "absent-answer"
		}
		mismatch = matches(schemaName(name, version), answer)
	}
	if (refused == nil) != (mismatch == nil) && !beyondSchemas(refused) {
		return fmt.Errorf("the tool says %v and the schema says %v of %.300s", refused, mismatch, answer)
	}
	return nil
}

// checkPolicy looks at what an image that judges plans was sent, and what it answered.
func checkPolicy(stdin, answer []byte) error {
	if err := matches("policy-input", stdin); err != nil {
		return fmt.Errorf("what was sent does not match: %w", err)
	}
	if encryption.Is(answer) || len(answer) > maxRecorded {
		return nil
	}
	_, refused := answers.ReadPolicy(answer)
	if mismatch := matches("policy-answer", answer); (refused == nil) != (mismatch == nil) {
		return fmt.Errorf("the tool says %v and the schema says %v of %.300s", refused, mismatch, answer)
	}
	return nil
}

// checkValidation looks at what a type that judges a config was sent, and what it answered.
func checkValidation(stdin, answer []byte) error {
	if err := matches("validate-input", stdin); err != nil {
		return fmt.Errorf("what was sent does not match: %w", err)
	}
	if encryption.Is(answer) || len(answer) > maxRecorded {
		return nil
	}
	_, refused := answers.ReadFindings(answer)
	if mismatch := matches("validate-answer", answer); (refused == nil) != (mismatch == nil) {
		return fmt.Errorf("the tool returns %v and the schema %v of %.300s", refused, mismatch, answer)
	}
	return nil
}

// onlyProtocol gives an error if it is about the answer itself, and not about
// what the answer says.
func onlyProtocol(err error) error {
	var pe *typeclient.ProtocolError
	if errors.As(err, &pe) {
		return pe
	}
	return nil
}

// beyondSchemas reports whether an answer is refused for what no schema can see:
// the usability of another schema in it, and places that collide.
func beyondSchemas(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "not a usable JSON Schema") || strings.Contains(err.Error(), "not a valid "+
		"name for an action") ||
		strings.Contains(err.Error(), "must be an absolute path") || strings.Contains(err.Error(), "which is the kernel's"))
}

func schemaName(name string, version int) string {
	if version == 1 && name != "init-input" {
		return name + "-1"
	}
	return name
}

// schemas are compiled once.
var schemas sync.Map

func matches(name string, message []byte) error {
	if err := jsondoc.Check(message); err != nil {
		return err
	}
	known, ok := schemas.Load(name)
	if !ok {
		text, err := os.ReadFile(filepath.Join("docs", "schemas", name+".json"))
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema:///"+name, doc); err != nil {
			return err
		}
		compiled, err := c.Compile("schema:///" + name)
		if err != nil {
			return err
		}
		known, _ = schemas.LoadOrStore(name, compiled)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(message))
	if err != nil {
		return err
	}
	return known.(*jsonschema.Schema).Validate(value)
}

// stub is an image that says one thing.
type stub struct{ answer []byte }

func (s stub) Resolve(context.Context, string) (runner.Image, error) {
	return runner.Image{Digest: "sha256:x"}, nil
}

func (s stub) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{Stdout: s.answer}, nil
}

func (s stub) client() *typeclient.Client {
	return typeclient.New(typeclient.Options{Runner: s, Backoff: []time.Duration{}})
}
