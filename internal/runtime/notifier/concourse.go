package notifier

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// How one of Concourse's images gets a message: as files in its directory, and in the texts of its
// params in place of a word.
const (
	putDir  = "/tmp/build/put"
	files   = "notification"
	event   = "event.json"
	summary = "summary.txt"
	word    = "$DEPLOYSTER_SUMMARY"
)

// put is the stdin of /opt/resource/out. Some images refuse other keys.
type put struct {
	Source json.RawMessage `json:"source"`
	Params json.RawMessage `json:"params,omitempty"`
}

// toConcourse makes a message for one of Concourse's images, which puts it.
func toConcourse(a typeclient.Ask, t Target, m Message) (typeclient.Ask, error) {
	a.Command = protocol.Command{Entrypoint: artifact.ConcoursePrograms()[2], Args: []string{putDir}}
	a.Cwd, a.Says = putDir, true // its answer is a version, which nothing needs
	a.Volumes = []runner.Volume{{Target: putDir, Fill: func(dir string) error { return fill(dir, m) }}}
	in := put{Source: t.Config}
	if len(t.Params) > 0 && string(t.Params) != "{}" {
		in.Params = jsondoc.Rewrite(t.Params, func(text string, at jsondoc.Place) string {
			if at.Key || at.Number {
				return text
			}
			return strings.ReplaceAll(text, word, m.Summary)
		})
	}
	stdin, err := jsondoc.Encode(in)
	a.Stdin = append(stdin, '\n')
	return a, err
}

// fill writes the files of a message.
func fill(dir string, m Message) error {
	at := filepath.Join(dir, files)
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at, event), append(m.Event, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, summary), []byte(m.Summary+"\n"), 0o644)
}
