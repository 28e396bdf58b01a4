package etc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

const (
	sudoersFile      = "/etc/sudoers"
	sudoersDirectory = "/etc/sudoers.d"
	sudoersMode      = 0o440
)

// SudoersConfig is what a user writes about a file of rules of sudo.
type SudoersConfig struct {
	Name    string `json:"name" pattern:"^[A-Za-z0-9_][A-Za-z0-9_-]*$" deployster:"identity"`
	Content string `json:"content"`

	Prefix string `json:"prefix,omitempty"` // of discovery
}

var sudoersDocs = map[string]string{
	"name":    "The name of the file in /etc/sudoers.d. A name with a dot is refused, since sudo does not read such files.",
	"content": "Its text, as sudoers(5) describes it.",
	"prefix":  "For discovery only: list the files whose name begins so.",
}

// SudoersState is what exists.
type SudoersState struct {
	Name string `json:"name" doc:"the name in the config"`
	Path string `json:"path" doc:"the path of its file"`

	had found
}

type sudoersCall = protocol.Call[SudoersConfig, SudoersState]

// Sudoers is the kind of rules of sudo.
type Sudoers struct{ Machine *access.Machine }

// NewSudoers returns the kind sudoers.
func NewSudoers(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Sudoers{m}, protocol.About{Label: "Rules of sudo", Kind: "linux/sudoers", Worker: true, Unknowns: true,
		Docs: sudoersDocs})
}

func (k Sudoers) file(c *sudoersCall) ownFile {
	return ownFile{k.Machine, sudoersDirectory + "/" + c.Config.Name, sudoersMode}
}

// Read returns the file, or nil.
func (k Sudoers) Read(_ context.Context, c *sudoersCall) (*SudoersState, error) {
	f := k.file(c)
	h, err := f.read()
	if err != nil || !h.there || c.Intent == protocol.Absent && h.link != "" {
		return nil, err
	}
	return &SudoersState{Name: c.Config.Name, Path: f.path, had: h}, nil
}

// Plan compares the content, the mode and the owner: sudo refuses to run with another mode.
func (k Sudoers) Plan(_ context.Context, c *sudoersCall, have *SudoersState) (*protocol.Plan, error) {
	f := k.file(c)
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create"}}, Forecast: SudoersState{Name: c.Config.Name, Path: f.path}}
	if have == nil {
		if r, missing := f.needsDirectory("sudo"); missing {
			plan.Reasons = []protocol.Reason{r}
		}
		return plan, k.included()
	}
	plan.Actions[0].Name = "update"
	if c.IsUnknown("/content") {
		plan.Reasons = []protocol.Reason{{Path: "/content", Message: "known only after other actions"}}
		return plan, nil
	}
	if plan.Reasons = f.differences(have.had, ended(c.Config.Content), "/content"); len(plan.Reasons) == 0 {
		return nil, k.included()
	}
	return plan, k.included()
}

// include matches the line by which sudo reads the directory; its # begins no comment.
var include = regexp.MustCompile(`(?m)^[ \t]*[#@]includedir[ \t]+"?/etc/sudoers\.d/?"?[ \t]*$`)

// included returns an error if sudo does not read the directory.
func (k Sudoers) included() error {
	text, err := os.ReadFile(k.Machine.Path(sudoersFile))
	if err != nil || include.Match(text) { // without sudo there is no file yet
		return nil
	}
	return protocol.Errorf(protocol.ConfigError, "/name", "%s does not include %s, so sudo would not read the file: add @includedir %s "+
		"there",
		sudoersFile, sudoersDirectory, sudoersDirectory)
}

// Write checks the file with visudo, by itself and together with all others, and writes it.
func (k Sudoers) Write(ctx context.Context, c *sudoersCall) error {
	f := k.file(c)
	if !f.hasDirectory() {
		return fmt.Errorf("%s does not exist: install the package sudo first", sudoersDirectory)
	}
	return f.write(ctx, ended(c.Config.Content), func(ctx context.Context, beside string) error {
		if err := k.visudo(ctx, k.Machine.Path(beside), k.Machine.Path(beside), f.path); err != nil {
			return err
		}
		return k.together(ctx, c, beside)
	})
}

func (k Sudoers) visudo(ctx context.Context, path, shown, as string) error {
	err := k.Machine.Run(ctx, access.Command{Args: []string{"visudo", "-c", "-f", path}})
	if exit, ok := errors.AsType[*access.ExitError](err); ok {
		return fmt.Errorf("sudo does not accept the rules, and nothing was changed: %s", strings.ReplaceAll(exit.Output, shown, as))
	}
	return err
}

// together checks all rules as they would be: an alias that two files define is an error in
// neither of them alone, and sudo then runs for nobody.
func (k Sudoers) together(ctx context.Context, c *sudoersCall, beside string) (err error) {
	main, err := os.ReadFile(k.Machine.Path(sudoersFile))
	if err != nil {
		return nil // it is not installed wholly yet
	}
	names, err := entries(k.Machine, sudoersDirectory)
	if err != nil {
		return err
	}
	whole := func(with string) (string, error) {
		var list strings.Builder
		for _, name := range names {
			if name != c.Config.Name && !strings.ContainsAny(name, ".~") {
				list.WriteString("@include " + k.Machine.Path(sudoersDirectory+"/"+name) + "\n")
			}
		}
		if with != "" {
			list.WriteString("@include " + with + "\n")
		}
		return k.temporary(include.ReplaceAllLiteralString(string(main), list.String()))
	}
	before, err := whole("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(before)) }()
	if k.visudo(ctx, before, before, sudoersFile) != nil {
		c.Logf("the rules of others in %s are not valid: visudo -c shows why", sudoersFile)
		return nil
	}
	after, err := whole(k.Machine.Path(beside))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(after)) }()
	return k.visudo(ctx, after, k.Machine.Path(beside), sudoersDirectory+"/"+c.Config.Name)
}

// temporary writes a file that root alone may read.
func (k Sudoers) temporary(text string) (path string, err error) {
	directory := k.Machine.Path("/run/deployster-machine")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(directory, "sudoers-")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return filepath.Clean(file.Name()), errors.Join(err, file.Close())
}

// Delete removes the file.
func (k Sudoers) Delete(ctx context.Context, c *sudoersCall) error { return k.file(c).remove(ctx) }

// Watch reports changes of the file.
func (k Sudoers) Watch(ctx context.Context, c *sudoersCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, k.file(c).path, tell)
}

// Discover lists the files that sudo reads.
func (k Sudoers) Discover(_ context.Context, c *sudoersCall, tell func(SudoersConfig, string) error) error {
	names, err := entries(k.Machine, sudoersDirectory)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.ContainsAny(name, ".~") || !strings.HasPrefix(name, c.Config.Prefix) {
			continue
		}
		text, err := os.ReadFile(k.Machine.Path(sudoersDirectory + "/" + name))
		if err != nil {
			return err
		}
		if err := tell(SudoersConfig{Name: name, Content: string(text)}, name); err != nil {
			return err
		}
	}
	return nil
}
