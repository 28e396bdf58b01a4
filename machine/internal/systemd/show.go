package systemd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// properties are those of a unit that kinds read.
type properties map[string]string

// shown are the properties that show prints.
var shown = []string{"Id", "LoadState", "LoadError", "ActiveState", "SubState", "UnitFileState", "NeedDaemonReload", "CanReload", "Type",
	"RemainAfterExit", "Result", "FragmentPath", "InvocationID"}

// parseProperties reads what systemctl show prints: NAME=VALUE, one a line.
func parseProperties(text string) properties {
	p := properties{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			p[name] = value
		}
	}
	return p
}

// there reports whether systemd knows the unit.
func (p properties) there() bool { return p["LoadState"] != "not-found" }

// running reports whether the unit is up. One that systemd is still starting, or starts again
// and again, is not.
func (p properties) running() bool {
	return p["ActiveState"] == "active" || p["ActiveState"] == "reloading" || p["ActiveState"] == "refreshing"
}

func (p properties) masked() bool {
	return p["LoadState"] == "masked" || strings.HasPrefix(p["UnitFileState"], "masked")
}

// enabled reports whether the unit starts at boot.
func (p properties) enabled() bool { return p["UnitFileState"] == "enabled" }

// control runs commands of systemd.
type control struct{ machine *access.Machine }

// check refuses a machine without a systemd.
func (k control) check() error {
	if _, err := os.Stat(k.machine.Path("/run/systemd/system")); err == nil {
		return nil
	}
	name, err := os.ReadFile("/proc/1/comm")
	if err != nil {
		name = []byte("unknown")
	}
	return protocol.Errorf(protocol.ConfigError, "", "this machine does not run systemd (its process 1 is %s), which this "+
		"kind needs", strings.TrimSpace(string(name)))
}

func (k control) show(ctx context.Context, unit string) (properties, error) {
	var out bytes.Buffer
	err := k.machine.Run(ctx, access.Command{Args: []string{"systemctl", "show", "--no-pager", "-p", strings.Join(shown, ","),
		"--", unit}, Stdout: &out})
	return parseProperties(out.String()), err
}

// systemctl runs one command of it.
func (k control) systemctl(ctx context.Context, args ...string) error {
	return k.machine.Run(ctx, access.Command{Args: append([]string{"systemctl", "--no-ask-password", "--no-pager"}, args...),
		Description: "systemctl " + strings.Join(args, " ")})
}

// reload has systemd read its files again, if those of the unit have changed.
func (k control) reload(ctx context.Context, unit string) error {
	p, err := k.show(ctx, unit)
	if err != nil || p["NeedDaemonReload"] != "yes" && p.there() {
		return err
	}
	return k.systemctl(ctx, "daemon-reload")
}

// journalLines is how many lines of the journal an error has.
const journalLines = "20"

// explained adds to an error what the unit has written last.
func (k control) explained(ctx context.Context, unit string, err error) error {
	p, failed := k.show(ctx, unit)
	args := []string{"journalctl", "--no-pager", "-q", "-o", "cat", "-n", journalLines}
	if id := p["InvocationID"]; failed == nil && id != "" {
		args = append(args, "_SYSTEMD_INVOCATION_ID="+id, "+", "INVOCATION_ID="+id)
	} else {
		args = append(args, "-u", unit)
	}
	var out bytes.Buffer
	if failed := k.machine.Run(ctx, access.Command{Args: args, Stdout: &out}); failed != nil || strings.TrimSpace(out.String()) == "" {
		return fmt.Errorf("%s: %w (%s, result %s; its journal is empty)", unit, err, p["ActiveState"], p["Result"])
	}
	return fmt.Errorf("%s: %w (%s, result %s). Its journal ends with:\n%s", unit, err, p["ActiveState"], p["Result"],
		strings.TrimSpace(out.String()))
}

// up starts or restarts a unit, by the name of that command. A unit that systemd does not start
// any more, since it failed too often, is started again.
func (k control) up(ctx context.Context, verb, unit string) error {
	if err := k.reload(ctx, unit); err != nil {
		return err
	}
	if p, err := k.show(ctx, unit); err == nil && !p.running() {
		_ = k.systemctl(ctx, "reset-failed", "--", unit) // systemd may not have it in memory: then it counts nothing
	}
	err := k.systemctl(ctx, verb, "--", unit)
	if err == nil {
		err = k.stays(ctx, unit)
	}
	if err != nil {
		return k.explained(ctx, unit, err)
	}
	return nil
}

// unitDir is where the administrator's units are.
const unitDir = "/etc/systemd/system"

// verify has systemd read a unit before its file exists: files by their paths below unitDir. What
// it reports about a program that does not exist yet is only logged.
func (k control) verify(ctx context.Context, unit string, files map[string]string, log io.Writer) (err error) {
	if err := os.MkdirAll(k.machine.Path("/run/deployster-machine"), 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(k.machine.Path("/run/deployster-machine"), "verify-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	err = k.machine.Run(ctx, access.Command{Args: []string{"systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
		filepath.Join(dir, unit)},
		Stdout: &out, Stderr: &out})
	if exit, ok := errors.AsType[*access.ExitError](err); err != nil && (!ok || exit.Code < 0) {
		return err
	}
	if faults := faultsIn(out.String(), unit, dir+"/", log); len(faults) > 0 {
		return fmt.Errorf("systemd does not accept %s, and nothing was changed: %s", unit, strings.Join(faults, "; "))
	}
	return nil
}

// faultsIn returns what systemd-analyze has against a unit and its files in a directory, and logs
// what is not a fault of theirs.
func faultsIn(text, unit, dir string, log io.Writer) (faults []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mine := strings.Contains(line, dir) || strings.HasPrefix(line, unit+": ")
		later := strings.Contains(line, "is not executable") // it may be installed later
		switch line = strings.ReplaceAll(line, dir, ""); {
		case line == "":
		case mine && !later:
			faults = append(faults, line)
		default:
			_, _ = fmt.Fprintln(log, line)
		}
	}
	return faults
}
