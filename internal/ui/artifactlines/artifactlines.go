package artifactlines

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/ui/jsondiff"
	"deployster/plan"
	"deployster/plan/artifacts"
)

// The maximum lengths of a version, and of its metadata, in bytes.
const (
	maxVersion  = 60
	maxMetadata = 400
)

// ShortVersion returns a version in the form that people recognise: digests and commits
// are shortened to their beginning.
func ShortVersion(v artifact.Version) string {
	text := v.String()
	if len(v) == 1 && len(text) == 40 && strings.Trim(text, "0123456789abcdef") == "" {
		text = text[:7]
	}
	if rest, ok := strings.CutPrefix(text, "sha256:"); ok && len(v) == 1 && len(rest) == 64 {
		text = "sha256:" + rest[:12]
	}
	return cut(diag.Visible(text), maxVersion)
}

// cut shortens a text to a number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// Metadata returns the metadata of a version on one line.
func Metadata(m artifact.Metadata) string {
	var parts []string
	for _, f := range m {
		value := strings.Join(strings.Fields(f.Value), " ")
		if value == "" {
			continue
		}
		if strings.ContainsAny(value, " ,;") {
			value = fmt.Sprintf("%q", value)
		}
		parts = append(parts, diag.Visible(f.Name)+" "+diag.Visible(value))
	}
	return cut(strings.Join(parts, ", "), maxMetadata)
}

// FoldVersions replaces the rows of each input's version by one row with the old and the new version.
func FoldVersions(s *plan.Step, d jsondiff.Diff, hide func(string) string) jsondiff.Diff {
	if hide == nil {
		hide = func(text string) string { return text }
	}
	var was, now struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if s.Was() == nil || json.Unmarshal(s.Was().State, &was) != nil || json.Unmarshal(s.Config, &now) != nil {
		return d // the diff of all values is valid as well
	}
	var rows []jsondiff.Row
	folded := map[string]bool{}
	for _, r := range d.Rows {
		rest, _ := strings.CutPrefix(r.Pointer, "/inputs/")
		name, member, _ := strings.Cut(rest, "/")
		from, to := versionIn(was.Inputs[name]), versionIn(now.Inputs[name])
		if rest == r.Pointer || from == nil || to == nil || member != "version" && !strings.HasPrefix(member, "version/") {
			rows = append(rows, r)
			continue
		}
		if !folded[name] {
			folded[name] = true
			rows = append(rows, jsondiff.Row{Op: jsondiff.Change, Pointer: "/inputs/" + name + "/version",
				Path: "inputs." + diag.Visible(name),
				Have: hide(ShortVersion(from)), Want: hide(ShortVersion(to))})
		}
	}
	d.Rows = rows
	return d
}

// versionIn returns the version of an input; nil if it has files of this host.
func versionIn(input json.RawMessage) artifact.Version {
	var in struct {
		Version artifact.Version `json:"version"`
	}
	_ = json.Unmarshal(input, &in) // otherwise it is the name of a plug, or missing
	return in.Version
}

// Table returns the versions of a plan's artifacts, a line each; "" if it has none.
func Table(pins map[string]artifacts.Pin) string {
	if len(pins) == 0 {
		return ""
	}
	var rows [][3]string
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		p := pins[name]
		rows = append(rows, [3]string{diag.Visible(name), movement(p), About(p)})
	}
	var width [2]int
	for _, r := range rows {
		width[0], width[1] = max(width[0], len([]rune(r[0]))), max(width[1], len([]rune(r[1])))
	}
	var b strings.Builder
	b.WriteString("Artifacts:\n")
	for _, r := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %-*s  %s", width[0], r[0], width[1], r[1], r[2]), " ") + "\n")
	}
	b.WriteByte('\n')
	return b.String()
}

// movement returns the old and the new version of an artifact, or the present one if it stays.
func movement(p artifacts.Pin) string {
	now := ShortVersion(p.Recipe.Version)
	switch {
	case !p.Moves():
		return now
	case p.Was == nil:
		return "-> " + now
	}
	return ShortVersion(p.Was) + " -> " + now
}

// About describes an artifact, apart from its version.
func About(p artifacts.Pin) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if p.Unlisted {
		add("! %s is no longer listed", ShortVersion(p.Was))
	}
	if p.Pinned != "" {
		add("pinned (%s)", p.Pinned)
	}
	space := ""
	if p.Recipe.Space != "" {
		space = "space " + diag.Visible(p.Recipe.Space)
	}
	if p.Newer > 0 {
		newer := words.Thousands(p.Newer) + " newer"
		if space != "" {
			newer = space + ", " + newer
		}
		space = newer
	}
	if space != "" {
		parts = append(parts, space)
	}
	if p.Unrefreshed {
		parts = append(parts, "as recorded, not checked")
	}
	if text := Metadata(p.Metadata); text != "" && p.Moves() {
		parts = append(parts, text)
	}
	if p.Tree != "" {
		add("%s, %s", words.Count(int(p.Files), "file"), words.Bytes(p.Bytes))
	}
	if p.Waits != nil {
		add("%s waits for %s", ShortVersion(p.Waits), artifacts.References(p.WaitsFor))
	}
	if p.Note != "" {
		parts = append(parts, p.Note)
	}
	return strings.Join(parts, "; ")
}
