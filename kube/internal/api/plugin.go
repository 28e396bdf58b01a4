package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// RunPlugin is the first argument of this program when it runs one that makes credentials.
const RunPlugin = "run-plugin"

// DefaultPluginLimit is how long a program that makes credentials may take. It is less than what a call may.
const DefaultPluginLimit = perCall - 5*time.Second

// maxCredentials is the size limit of what such a program prints, in bytes.
const maxCredentials = 1 << 20

// Plugin is the program of a kubeconfig that makes credentials. The library that calls it waits for its end without a limit, so
// that it is run by this program.
type Plugin struct {
	name    string
	printed *os.File // why it made none, as the last line
}

// through makes a config run its program by this one; nil = it has none. A program of the kubeconfig writes to the standard error that
// this process has now: a file without a name.
func through(config *rest.Config, self string, limit time.Duration) (*Plugin, error) {
	if config.ExecProvider == nil {
		return nil, nil
	}
	e := config.ExecProvider.DeepCopy()
	p := &Plugin{name: e.Command}
	e.Args = append([]string{RunPlugin, limit.String(), e.InstallHint, e.Command}, e.Args...)
	e.Command = self
	config.ExecProvider = e
	var err error
	if p.printed, err = os.CreateTemp("", "deployster-kube"); err == nil {
		err = os.Remove(p.printed.Name())
	}
	if err != nil {
		return nil, err
	}
	stderr := os.Stderr
	os.Stderr = p.printed
	defer func() { os.Stderr = stderr }()
	_, err = rest.TransportFor(config) // the library keeps it
	return p, err
}

// CredentialsError reports that the program of a kubeconfig made no credentials, so that nobody was called.
type CredentialsError struct{ text string }

func (e *CredentialsError) Error() string { return e.text }

// unmade begins the errors of the library about a program that made no credentials.
const unmade = "getting credentials: "

// explain returns the error of a call, with why the program made no credentials and what to do.
func (p *Plugin) explain(err error) error {
	if p == nil || err == nil {
		return err
	}
	_, why, is := strings.Cut(err.Error(), unmade)
	if !is {
		return err
	}
	if said := p.last(); strings.Contains(why, " failed with exit code ") && said != "" {
		why = said
	}
	return &CredentialsError{fmt.Sprintf("%s of the kubeconfig makes no credentials: %s. `kubectl auth whoami` runs it too, with a "+
		"terminal to log in at", p.name, strings.TrimSuffix(strings.TrimPrefix(why, "exec "), "."))}
}

// last returns the last line that this program wrote when it ran the program of the kubeconfig.
func (p *Plugin) last() string {
	end, err := p.printed.Seek(0, io.SeekCurrent)
	if err != nil {
		return ""
	}
	tail := make([]byte, min(end, 8<<10))
	if _, err := p.printed.ReadAt(tail, end-int64(len(tail))); err != nil {
		return ""
	}
	text := strings.TrimSpace(string(tail))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Credentials runs a program that makes credentials, and writes them to stdout. args are what follows RunPlugin in the arguments of
// this process.
func Credentials(args []string, stdout io.Writer) error {
	if len(args) < 3 {
		return errors.New("deployster-kube starts itself so")
	}
	limit, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	if err := runPlugin(limit, args[1], args[2:], stdout); err != nil {
		return errors.New(diag.Visible(strings.Join(strings.Fields(err.Error()), " ")))
	}
	return nil
}

// runPlugin writes what a program prints to stdout, if it ends well within a limit.
func runPlugin(limit time.Duration, hint string, command []string, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it has started
	cmd.WaitDelay = time.Second
	printed, said := runner.NewLog(maxCredentials), runner.NewLog(2<<10)
	cmd.Stdout, cmd.Stderr = printed, said
	err := cmd.Run()
	switch words := strings.TrimSpace(string(said.Bytes())); {
	case ctx.Err() != nil:
		err = fmt.Errorf("it has not ended within %s. %s", limit, words)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("it is not installed, or not on the PATH. %s", hint)
	case err != nil && words != "":
		err = fmt.Errorf("%w: %s", err, words)
	}
	if err == nil && json.Unmarshal(printed.Bytes(), &struct{}{}) != nil {
		err = errors.New("what it prints is not an ExecCredential as JSON") // it may be secret
	}
	if err == nil {
		_, err = stdout.Write(printed.Bytes())
	}
	return err
}
