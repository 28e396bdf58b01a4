package images

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
)

// hostsFile are the settings of a registry, as far as mistakes in them would go
// unseen: containerd's library ignores a file that it cannot read, and then asks
// another host than was meant, or in another way.
type hostsFile struct {
	Server       string         `toml:"server"`
	Capabilities []string       `toml:"capabilities"`
	SkipVerify   *bool          `toml:"skip_verify"`
	OverridePath *bool          `toml:"override_path"`
	Header       map[string]any `toml:"header"`
	Hosts        map[string]struct {
		Capabilities []string       `toml:"capabilities"`
		SkipVerify   *bool          `toml:"skip_verify"`
		OverridePath *bool          `toml:"override_path"`
		Header       map[string]any `toml:"header"`
	} `toml:"host"`
}

// checkHostsFile refuses a hosts.toml that would be ignored.
func checkHostsFile(dir string) error {
	name := filepath.Join(dir, "hosts.toml")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return diag.Errorf("The settings of a registry cannot be read", "%s.", failure.Sentence(err))
	}
	var hosts hostsFile
	if err := toml.Unmarshal(text, &hosts); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return diag.Errorf("A mistake in the settings of a registry", "%s:%d:%d: %s. The registry was not asked: without these settings it "+
				"might be another one.\n%s", name, line, column, at.Error(), at.String())
		}
		return diag.Errorf("A mistake in the settings of a registry", "%s: %s.", name, err)
	}
	lists := [][]string{hosts.Capabilities}
	for _, h := range hosts.Hosts {
		lists = append(lists, h.Capabilities)
	}
	for _, capability := range slices.Concat(lists...) {
		if !slices.Contains([]string{"pull", "resolve", "push", "referrers"}, capability) {
			return diag.Errorf("A mistake in the settings of a registry", "%s: %q is no capability; there are pull, resolve, push and referrers.",
				name, diag.Visible(capability))
		}
	}
	return nil
}
