package standalone

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"

	"deployster/internal/base/version"
	"deployster/internal/ui/terminal"
)

// Build describes this program, as `version -json` prints it.
type Build struct {
	Format     int    `json:"format"`
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"` // of the source; absent if it was not recorded
	Date       string `json:"date,omitempty"`   // of the commit, in RFC 3339
	Platform   string `json:"platform"`         // such as linux/amd64
	Go         string `json:"go"`               // the version of Go that built it
	Containerd string `json:"containerd"`       // the version of the embedded containerd
	Runc       string `json:"runc,omitempty"`   // the version of the runc that it would use; absent if there is none
	RuncPath   string `json:"runc_path,omitempty"`
}

// Describe returns the description of this program, with the given versions of what it runs.
func Describe(containerd, runc, runcPath string) Build {
	b := Build{Format: 1, Version: version.Version, Commit: version.Commit, Date: version.Date,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: strings.TrimPrefix(runtime.Version(), "go"),
		Containerd: containerd, Runc: runc, RuncPath: runcPath}
	if info, ok := debug.ReadBuildInfo(); ok && b.Commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			}
		}
	}
	return b
}

// Print prints the description: as JSON, or one fact a line.
func (b Build) Print(out terminal.Printer, asJSON bool) error {
	if asJSON {
		return out.Document(b)
	}
	out.Printf("deployster %s %s\n", b.Version, b.Platform)
	for _, fact := range [][2]string{
		{"commit", strings.TrimSpace(b.Commit + " " + b.Date)}, {"go", b.Go}, {"containerd", b.Containerd},
		{"runc", strings.TrimSpace(b.Runc + " " + b.RuncPath)},
	} {
		out.Printf("  %-11s %s\n", fact[0], cmp.Or(fact[1], "unknown"))
	}
	return nil
}
