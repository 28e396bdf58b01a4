package containerd

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/containerd/agent"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// envPath is where the variables with secrets are in a container.
const envPath = agentPath + ".env"

// confide creates the files of a run with secrets in memory, and returns the spec that shows them to its program: files
// for plugs, and its variables, which the agent puts into the environment before it becomes the program. So neither is in
// the container's specification.
func (c *container) confide(p sandbox.Program, s runner.Spec) (runner.Spec, error) {
	contents := slices.ContainsFunc(s.Mounts, func(m runner.Mount) bool { return m.Content != "" })
	if !s.Confidential && !contents && len(s.SecretEnv) == 0 {
		return s, nil
	}
	runtimeDir := c.r.conn.Config.RuntimeDir
	if err := layout.MakeConfidential(runtimeDir, c.id); err != nil {
		return s, layout.ErrRuntimeDir(runtimeDir, err)
	}
	var err error
	if c.confidential, err = filepath.EvalSymlinks(c.dir()); err == nil {
		err = runfiles.MarkConfidential(c.dir(), s.MaxStdout > 0, s.Secrets)
	}
	if err != nil {
		return s, err
	}
	s.Mounts = slices.Clone(s.Mounts)
	for i, m := range s.Mounts {
		if m.Content != "" {
			m.Source, m.Own, m.Writable = filepath.Join(c.confidential, fmt.Sprintf("plug-%d", i)), true, false
			if err := os.WriteFile(m.Source, []byte(m.Content), 0o444); err != nil {
				return s, err
			}
			s.Mounts[i] = m
		}
	}
	if len(s.SecretEnv) == 0 {
		return s, nil
	}
	return c.confideEnv(p, s)
}

// confideEnv has the agent start the program of a run, with the variables of a file.
func (c *container) confideEnv(p sandbox.Program, s runner.Spec) (runner.Spec, error) {
	argv, err := s.Command(p.Config.Entrypoint, p.Config.Cmd)
	if err != nil {
		return s, err
	}
	if c.r.shared.agent == "" {
		return s, diag.Errorf("No secret in the environment", "The program deployster-agent is not in the directory of deployster, and it "+
			"gives a program variables with secrets. Install it, or put the secret into the config.")
	}
	file, err := c.r.agentFile(c.r.shared.agent)
	if err != nil {
		return s, err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.SecretEnv)) {
		text.WriteString(name + "=" + s.SecretEnv[name] + "\x00")
	}
	env := filepath.Join(c.confidential, "env")
	if err := os.WriteFile(env, []byte(text.String()), 0o444); err != nil {
		return s, err
	}
	c.bind = map[string]string{agentPath: file, envPath: env}
	s.Entrypoint, s.Args = agentPath, append([]string{agent.EnvFlag, envPath}, argv...)
	return s, nil
}

// bindConfidential adds the files of confideEnv to the specification of the container.
func (c *container) bindConfidential() {
	for _, target := range slices.Sorted(maps.Keys(c.bind)) {
		c.box.Spec.Mounts = append(c.box.Spec.Mounts, c.r.sandboxes.Bind(c.bind[target], target, false))
	}
}
