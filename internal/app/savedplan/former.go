package savedplan

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// former is what a state keeps of the plan that made it: what another plan of the same manifests is made from.
type former struct {
	Plan      string                     `json:"plan"`
	Created   time.Time                  `json:"created"`
	Sources   config.Sources             `json:"sources"`
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	Images    map[string]string          `json:"images"`            // reference -> digest
	Refused   string                     `json:"refused,omitempty"` // why nothing else is kept
}

// maxFormer is the limit of what a state keeps of a plan, unpacked.
const maxFormer = 64 << 20

// Keep returns what a state keeps of a plan that is applied, for a rollback; nil = what it has of an earlier plan stays. Without
// encryption nothing of a plan with sensitive values is kept.
func Keep(w *workspace.Workspace, p *plan.Plan, m *config.Manifest) ([]byte, error) {
	f := former{Plan: p.ID, Created: p.Created, Images: map[string]string{}}
	switch {
	case p.Selection.RefreshOnly:
		return nil, nil // it changes no object
	case p.Selection.Destroy:
		f.Refused = "it was made by destroy, which has no manifests"
	case p.Partial():
		f.Refused = "its plan left out a part of the manifests"
	case !w.Keys.Encrypts() && (len(p.SensitiveVariables) > 0 || len(m.Secrets()) > 0):
		f.Refused = "its plan has sensitive values, which are kept only in an encrypted state"
	default:
		s := p.Sources
		f.Variables, f.Images = p.Variables, p.Images
		f.Sources = config.Sources{Workspace: s.Workspace, Dir: s.Dir, Manifests: withoutBack(s.Manifests), Modules: s.Modules,
			Reads: s.Reads,
			Lists: s.Lists, Home: s.Home, Replay: true}
	}
	text, err := jsondoc.Encode(f)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err = z.Write(text); err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

// readFormer reads what a state keeps.
func readFormer(packed []byte) (f former, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return f, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxFormer))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	return f, err
}

// Former is the plan to which a rollback goes back.
type Former struct {
	Serial   uint64
	Manifest *config.Manifest
	Images   map[string]string // the digests of its images, by reference
	Then     state.Snapshot    // the state that it made
	Gone     []string          // addresses that have gone to another state since
}

// Back returns the plan that made the state with a serial, as today's state can go back to it.
func Back(w *workspace.Workspace, then, now state.Snapshot) (*Former, error) {
	refuse := func(why string, args ...any) error {
		return diag.Errorf("No rollback", "The state %d cannot be gone back to: %s. Nothing was changed.", then.Serial,
			fmt.Sprintf(why, args...))
	}
	if len(then.Former) == 0 {
		return nil, refuse("it keeps no plan, since it was made by an earlier deployster or by hand")
	}
	f, err := readFormer(then.Former)
	if err != nil {
		return nil, refuse("what it keeps of its plan cannot be read: %s", err)
	}
	if f.Refused != "" {
		return nil, refuse("%s", f.Refused)
	}
	if then.Lineage != now.Lineage {
		return nil, refuse("it is of another lineage")
	}
	back, err := inverse(then, now)
	if err != nil {
		return nil, refuse("%s", err)
	}
	if len(back) > 0 {
		f.Sources.Manifests = append(slices.Clone(f.Sources.Manifests), config.File{Path: backFile, Bytes: []byte(back)})
	}
	m, err := w.Replay(f.Sources, f.Variables, w.Started)
	if err != nil {
		return nil, err
	}
	former := &Former{Serial: then.Serial, Manifest: m, Then: then, Images: f.Images}
	for _, r := range m.Resources() {
		if now.Went(r.Address) != nil {
			former.Gone = append(former.Gone, r.Address)
		}
	}
	return former, nil
}

// backFile is the file that a rollback adds to the manifests: its moved blocks are the inverse of the moves since.
const backFile = "rollback.hcl"

// withoutBack returns the manifests without what a rollback has added.
func withoutBack(files []config.File) []config.File {
	return slices.DeleteFunc(slices.Clone(files), func(f config.File) bool { return f.Path == backFile })
}

// inverse returns moved blocks that undo the moves between two states.
func inverse(then, now state.Snapshot) (string, error) {
	if len(now.Renamed) < len(then.Renamed) || !slices.Equal(now.Renamed[:len(then.Renamed)], then.Renamed) {
		return "", fmt.Errorf("which resources were moved since is not known")
	}
	where, was := map[string]string{}, slices.Sorted(maps.Keys(then.Resources))
	for _, addr := range was {
		where[addr] = addr
	}
	for _, m := range now.Renamed[len(then.Renamed):] {
		for addr, at := range where {
			if at == m.From {
				where[addr] = m.To
			}
		}
	}
	var b strings.Builder
	var twice []string
	for _, addr := range was {
		at := where[addr]
		if _, recorded := now.Resources[at]; at == addr || !recorded {
			continue
		}
		if _, taken := then.Resources[at]; taken {
			twice = append(twice, addr)
		}
		fmt.Fprintf(&b, "moved {\n  from = %s\n  to   = %s\n}\n", blockAddress(at), blockAddress(addr))
	}
	if len(twice) > 0 {
		return "", fmt.Errorf("the moves of %s have no inverse, since another resource had the address where it is now", words.All(twice))
	}
	return b.String(), nil
}

// blockAddress returns an address as a moved block names it.
func blockAddress(addr string) string {
	start := 0
	for i, c := range moves.Unkeyed(addr) {
		if c == '.' {
			start = i + 1
		}
	}
	if strings.HasSuffix(addr[:start], "publish.") {
		return addr
	}
	return addr[:start] + "resource." + addr[start:]
}

// Explain puts before the errors of planning a rollback what they mean for it.
func (f *Former) Explain(found diag.Diagnostics, failed error) (diag.Diagnostics, error) {
	why := diag.Errorf("No rollback", "The state %d cannot be gone back to: planning has failed, see below. Nothing was "+
		"changed. Restore what is missing, or change the manifests of then, from version control, and apply these.", f.Serial)
	switch {
	case failed != nil && !errors.Is(failed, context.Canceled):
		failed = errors.Join(why, failed)
	case found.HasErrors():
		found = append(diag.Diagnostics{why}, found...)
	}
	return found, failed
}

// Schemas checks states as an image declares them. clients.Clients is one.
type Schemas interface {
	CheckState(ty protocol.Type, state json.RawMessage) []typeschema.Violation
}

// Fits returns an error for each resource that must not be changed by a plan that goes back: what is protected today, and what an older
// image does not understand.
func (f *Former) Fits(p *plan.Plan, now state.Snapshot, schemas Schemas) error {
	var diags diag.Diagnostics
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		at := addr
		if step.MovedFrom != "" {
			at = step.MovedFrom
		}
		entry, known := now.Completed(at)
		if !known || step.Change() == plan.Forget || step.Change() == plan.Destroy {
			continue // a removal runs today's image, and checks today's protection
		}
		why := ""
		switch {
		case entry.PreventDestroy && step.Kind() == plan.Replace:
			why = "it has prevent_destroy = true today, and would be destroyed"
		case len(entry.Memory) > 0 && !step.Init.Memory:
			why = "a memory is recorded of it, and the image of then has no memory"
		case entry.Digest != step.Init.Digest && len(schemas.CheckState(step.Init, entry.State)) > 0:
			why = "its recorded state does not match the state_schema of the image of then"
		}
		if why != "" {
			d := diag.Errorf("No rollback", "%s: %s. Exclude it with -exclude='%s', or change the manifest and apply that.", addr,
				why, addr)
			d.Address = addr
			diags = append(diags, d)
		}
	}
	return diags.Err()
}
