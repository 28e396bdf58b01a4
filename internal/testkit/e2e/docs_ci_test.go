package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// gitHubAction is what a runner of GitHub reads of an action.
type gitHubAction struct {
	Runs struct {
		Steps []struct {
			If  string
			Env map[string]string
			Run string
		}
	}
}

// TestDocs_CIComponents runs the action and the component in docs/ci as a runner would: with
// the variables of its environment, its expressions replaced, and its tools as fakes.
func TestDocs_CIComponents(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(filepath.Join(moduleRoot(t), "docs", "ci"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	var action gitHubAction
	if err := yaml.Unmarshal([]byte(read(t, "docs/ci/action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"inputs.token": "secret", "github.event.pull_request.number": "7", "github.action_path": here, "inputs.digest": "$REVIEWED"}
	for _, step := range action.Runs.Steps {
		text := ""
		for name, value := range step.Env {
			text += fmt.Sprintf("export %s=\"%s\"\n", name, replaced(t, value, `\$\{\{ (.*?) \}\}`, values))
		}
		scripts["github-"+regexp.MustCompile(`'(\w+)'`).FindStringSubmatch(step.If)[1]+".sh"] = text + step.Run
	}
	_, body, _ := strings.Cut(read(t, "docs/ci/gitlab.yml"), "\n---\n")
	var jobs map[string]struct{ Script []string }
	if err := yaml.Unmarshal([]byte(replaced(t, body, `\$\[\[ (.*?) \]\]`, map[string]string{"inputs.image": "image", "inputs.directory": "."})), &jobs); err != nil {
		t.Fatal(err)
	}
	for name, job := range jobs {
		scripts[strings.Replace(name, "deployster", "gitlab", 1)+".sh"] = strings.Join(job.Script, "\n") + "\n"
	}
	if len(scripts) != 4 {
		t.Fatalf("found %d scripts", len(scripts))
	}
	runScripts(t, "testdata/docs/ci", func(env *testscript.Env) error {
		for name, text := range scripts {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaced replaces the expressions of a runner; each must have a value.
func replaced(t *testing.T, text, pattern string, values map[string]string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		value, ok := values[expression.FindStringSubmatch(found)[1]]
		if !ok {
			t.Errorf("the runner has no value for %s", found)
		}
		return value
	})
}
