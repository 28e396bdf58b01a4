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

// gitHubAction is what a runner of GitHub reads of an action, and gitHubWorkflow of a workflow.
type (
	gitHubAction struct {
		Inputs map[string]struct{ Default string }
		Runs   struct{ Steps []gitHubStep }
	}
	gitHubWorkflow struct {
		Jobs map[string]struct {
			Needs       string
			Outputs     map[string]string
			Strategy    struct{ Matrix map[string]string }
			Concurrency struct{ Group string }
			Steps       []gitHubStep
		}
	}
	gitHubStep struct {
		If, ID, Uses, Run string
		Env, With         map[string]string
		Directory         string `yaml:"working-directory"`
	}
)

// gitHubExpression is an expression of a runner of GitHub, gitLabExpression one of a component of GitLab.
const (
	gitHubExpression = `\$\{\{ (.*?) \}\}`
	gitLabExpression = `\$\[\[ (.*?) \]\]`
)

// TestDocs_CIComponents runs the action, the workflow and the component in docs/ci as a runner would: with
// the variables of its environment, its expressions replaced, and its tools as fakes.
func TestDocs_CIComponents(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(filepath.Join(moduleRoot(t), "docs", "ci"))
	if err != nil {
		t.Fatal(err)
	}
	var action gitHubAction
	if err := yaml.Unmarshal([]byte(read(t, "docs/ci/action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	runner := map[string]string{"github.event.pull_request.number": "7", "github.event.pull_request.head.sha": "$HEAD_COMMIT", "github.action_path": here}
	scripts := map[string]string{}
	for _, command := range []string{"plan", "apply"} {
		scripts["github-"+command+".sh"] = action.script(t, map[string]string{
			"command": command, "directory": ".", "token": "secret", "digest": "$REVIEWED"}, runner)
	}
	workflowScripts(t, action, runner, scripts)
	_, body, _ := strings.Cut(read(t, "docs/ci/gitlab.yml"), "\n---\n")
	var jobs map[string]struct{ Script []string }
	inputs := map[string]string{"inputs.image": "image", "inputs.directories": `["."]`}
	if err := yaml.Unmarshal([]byte(replaced(t, body, gitLabExpression, inputs)), &jobs); err != nil {
		t.Fatal(err)
	}
	for name, job := range jobs {
		scripts[strings.Replace(name, "deployster", "gitlab", 1)+".sh"] = strings.Join(job.Script, "\n") + "\n"
	}
	if len(scripts) != 7 {
		t.Fatalf("found %d scripts", len(scripts))
	}
	runScripts(t, "testdata/docs/ci", func(env *testscript.Env) error {
		for name, text := range scripts {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return os.CopyFS(filepath.Join(env.WorkDir, "components"), os.DirFS(here))
	})
}

// workflowScripts adds what the jobs of the workflow run to scripts. DIRECTORY is the value of its matrix.
func workflowScripts(t *testing.T, action gitHubAction, runner, scripts map[string]string) {
	t.Helper()
	var workflow gitHubWorkflow
	if err := yaml.Unmarshal([]byte(read(t, "docs/ci/workflow.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	runner["github.token"], runner["matrix.directory"] = "secret", "$DIRECTORY"
	for name, job := range workflow.Jobs {
		if name == "projects" {
			if list := job.Steps[1]; job.Outputs["list"] != "${{ steps."+list.ID+".outputs.list }}" {
				t.Errorf("the list of projects is output %q of step %q", job.Outputs["list"], list.ID)
			}
			scripts["workflow-projects.sh"] = job.Steps[1].Run
			continue
		}
		if job.Needs != "projects" || job.Strategy.Matrix["directory"] != "${{ fromJSON(needs.projects.outputs.list) }}" {
			t.Errorf("job %s has no matrix of the projects", name)
		}
		if name == "apply" && !strings.Contains(job.Concurrency.Group, "${{ matrix.directory }}") {
			t.Error("applies of one project may run at the same time")
		}
		scripts["workflow-"+name+".sh"] = action.script(t, job.Steps[1].With, runner)
	}
}

// script is what a runner runs of an action: its steps for the command of inputs.
func (a gitHubAction) script(t *testing.T, inputs, runner map[string]string) string {
	t.Helper()
	values := map[string]string{}
	for name, value := range runner {
		values[name] = value
	}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Errorf("the action has no input %s", name)
		}
		values["inputs."+name] = replaced(t, value, gitHubExpression, runner)
	}
	text := ""
	for _, step := range a.Runs.Steps {
		if step.If != fmt.Sprintf("inputs.command == '%s'", values["inputs.command"]) {
			continue
		}
		for name, value := range step.Env {
			text += fmt.Sprintf("export %s=\"%s\"\n", name, replaced(t, value, gitHubExpression, values))
		}
		text += fmt.Sprintf("cd \"%s\"\n", replaced(t, step.Directory, gitHubExpression, values)) + step.Run
	}
	return text
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
