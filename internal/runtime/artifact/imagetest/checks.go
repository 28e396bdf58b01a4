package imagetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/secret"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

// titles say what is true when a check passes, by the name of the check.
var titles = map[string]string{
	"info":               "the image says what it is",
	"info-again":         "it says the same when it is asked again",
	"check-first":        "check lists versions",
	"check-again":        "check lists the same when it is asked again",
	"check-from-newest":  "check continues from the newest version",
	"check-from-unknown": "check takes a version that it does not know",
	"check-sigterm":      "check ends when it is asked to",
	"get":                "get fetches the newest version",
	"get-again":          "get fetches the same files again",
	"get-unknown":        "get refuses a version that does not exist",
	"get-cwd":            "get writes into its directory only",
	"put":                "put publishes",
	"put-check":          "check lists what was put",
	"put-twice":          "the same put comes to the same versions",
	"secrets":            "secrets of the source are not printed",
}

// all makes the checks: first those that change nothing.
func (e *engine) all(ctx context.Context) {
	if !e.check(ctx, "info", e.askInfo) {
		return
	}
	e.report.Speaks = string(e.info.Protocol)
	e.check(ctx, "info-again", e.askInfoAgain)
	if e.check(ctx, "check-first", e.checkFirst) && e.newest.Version != nil {
		e.check(ctx, "check-again", e.checkAgain)
		e.check(ctx, "check-from-newest", e.checkFromNewest)
		e.check(ctx, "check-from-unknown", e.checkFromUnknown)
		e.check(ctx, "check-sigterm", e.checkTerm)
		if e.check(ctx, "get", e.get) {
			e.check(ctx, "get-again", e.getAgain)
			e.check(ctx, "get-unknown", e.getUnknown)
			e.check(ctx, "get-cwd", e.getCwd)
		}
	}
	if e.o.Put != nil && e.check(ctx, "put", e.put) {
		e.check(ctx, "put-check", e.putCheck)
		if e.info.Protocol == artifact.Artifacts2 {
			e.check(ctx, "put-twice", e.putTwice)
		}
	}
	e.check(ctx, "secrets", e.secrets)
}

const (
	fixInfo  = "docs/artifact-images.md shows the answer to info; an image of Concourse has its programs in /opt/resource."
	fixCheck = "check lists all versions that there are, oldest first, as docs/artifact-images.md shows it."
	fixGet   = "get fills the empty directory in which it starts, and ends with another exit code than zero when it cannot."
	fixTerm  = "End on SIGTERM, at once: a shell script does with trap 'exit 143' TERM, where its programs run in the background."
)

func (e *engine) askInfo(ctx context.Context) (out outcome) {
	var err error
	if e.info, err = e.client.Info(ctx, e.target); err != nil {
		return failWith(fixInfo, err)
	}
	put := "it cannot publish"
	if e.info.CanPut() {
		put = "it can publish"
	}
	return pass("%s, %s", e.info.Protocol, put)
}

func (e *engine) askInfoAgain(ctx context.Context) outcome {
	again, err := e.newClient().Info(ctx, e.target)
	if err != nil {
		return failWith(fixInfo, err)
	}
	if a, b := shown(e.info), shown(again); a != b {
		return fail("The answer to info depends on the image alone.", "First it was %s, then %s.", a, b)
	}
	return pass("")
}

func (e *engine) list(ctx context.Context, from map[string]artifact.Version) (artifact.Checked, error) {
	return e.client.Check(ctx, e.target, e.info, artifact.CheckInput{Source: e.o.Source, From: from, Fresh: true})
}

func (e *engine) checkFirst(ctx context.Context) outcome {
	c, err := e.list(ctx, nil)
	if err != nil {
		return failWith(fixCheck, err)
	}
	var ok bool
	note := ""
	if e.newest, ok = c.Found(); !ok && c.Selected == "" && len(c.Spaces) > 0 {
		space := slices.Sorted(maps.Keys(c.Spaces))[0]
		e.newest, note = c.Spaces[space].Last, "; no default space, so who uses it must name one"
		ok = true
	}
	switch {
	case !ok && e.info.Protocol == artifact.Concourse1 && e.o.Put != nil: // a notifier never lists any
		return pass("it lists no version, so get is not tested")
	case !ok:
		return fail("Test with a source that has a version.", "It lists no version.")
	}
	total := 0
	for _, s := range c.Spaces {
		total += s.Count
	}
	return pass("%s; the newest is %s%s", words.Count(total, "version"), e.newest.Version, note)
}

func (e *engine) checkAgain(ctx context.Context) outcome {
	c, err := e.list(ctx, nil)
	if err != nil {
		return failWith(fixCheck, err)
	}
	if got := c.Spaces[e.newest.Space].Last; !got.Version.Is(e.newest.Version) {
		return pass("another one is the newest now: %s. Each plan will have a version of its own", got.Version)
	}
	return pass("")
}

func (e *engine) checkFromNewest(ctx context.Context) outcome {
	space := e.newest.Space
	c, err := e.list(ctx, map[string]artifact.Version{space: e.newest.Version})
	if err != nil {
		return failWith(fixCheck, err)
	}
	switch {
	case c.Silent, c.Spaces[space].Continues:
		return pass("")
	case e.info.Protocol == artifact.Concourse1:
		return pass("it lists others, and not the one that it was asked from: plans will say that this is no longer listed")
	}
	return fail("The first line of a space is the version that from names, as long as it exists.",
		"It has just listed %s, and does not when it is asked from there.", e.newest.Version)
}

func (e *engine) checkFromUnknown(ctx context.Context) outcome {
	if _, err := e.list(ctx, map[string]artifact.Version{e.newest.Space: unknown(e.newest.Version)}); err != nil {
		return failWith("A version that is gone is no error: list what there is, from the start.", err)
	}
	return pass("")
}

// unknown returns a version that resembles v and does not exist.
func unknown(v artifact.Version) artifact.Version {
	out := artifact.Version{}
	for key, text := range v {
		at := strings.LastIndexAny(text, "0123456789")
		if at < 0 {
			out[key] = text + "0"
			continue
		}
		out[key] = text[:at] + string('0'+(text[at]-'0'+1)%10) + text[at+1:]
	}
	return out
}

// checkTerm asks check to end, at several moments. Its answer does not matter.
func (e *engine) checkTerm(ctx context.Context) outcome {
	moments := []time.Duration{2 * time.Millisecond, 20 * time.Millisecond}
	usual := time.Duration(0)
	for _, r := range e.runs {
		if strings.HasSuffix(r.spec.Name, "/"+artifact.StepCheck) {
			usual = max(usual, r.result.Duration/2)
		}
	}
	if usual > moments[1] {
		moments = append(moments, usual)
	}
	defer func() { e.edit = nil }()
	for _, after := range moments {
		e.edit = func(s *runner.Spec) { s.Timeout = after }
		_, err := e.list(ctx, nil)
		asked, had := killed(err)
		switch {
		case had && e.info.Protocol == artifact.Concourse1:
			return pass("%s after its start it was asked to end (SIGTERM), and had to be killed %s later: Ctrl-C takes that long", after,
				runner.DefaultGrace)
		case had:
			return fail(fixTerm, "%s after its start it received SIGTERM, and had to be killed %s later.", after, runner.DefaultGrace)
		case err != nil && !asked && artifact.ClassOf(err) == artifact.Other:
			return outcome{err: err}
		}
	}
	return pass("")
}

// fetch gets a version, and keeps only the sum of its files.
func (e *engine) fetch(ctx context.Context, v artifact.Version) (sum tree.Sum, err error) {
	_, err = e.client.Get(ctx, e.target, e.info, artifact.GetInput{
		Recipe: artifact.NewRecipe(e.info, e.target.Settings, e.o.Source, nil, artifact.Versioned{Space: e.newest.Space, Version: v}),
		Take: func(dir string) error {
			sum, err = tree.Measure(ctx, dir)
			if _, ok := errors.AsType[*tree.RefusedError](err); ok {
				return &artifact.Error{Class: artifact.Refused, Err: err}
			}
			if err == nil {
				err = e.lookForSecrets(dir)
			}
			return err
		}})
	return sum, err
}

func (e *engine) get(ctx context.Context) outcome {
	sum, err := e.fetch(ctx, e.newest.Version)
	if err != nil {
		return failWith(fixGet, err)
	}
	e.tree = sum.Hash
	return pass("%s, %s", words.Count(int(sum.Files), "file"), words.Bytes(sum.Bytes))
}

func (e *engine) getAgain(ctx context.Context) outcome {
	sum, err := e.fetch(ctx, e.newest.Version)
	if err != nil {
		return failWith(fixGet, err)
	}
	if sum.Hash != e.tree {
		return pass("the files are others each time: two machines will not have the same")
	}
	return pass("")
}

func (e *engine) getUnknown(ctx context.Context) outcome {
	v := unknown(e.newest.Version)
	_, err := e.fetch(ctx, v)
	switch {
	case err != nil && artifact.ClassOf(err) == artifact.Failed:
		return pass("")
	case err != nil:
		return failWith(fixGet, err)
	case e.info.Protocol == artifact.Concourse1:
		return pass("it fetches %s too, which check has not listed: a version that is gone will not be noticed", v)
	}
	return fail(fixGet, "It ended with exit code 0 for %s, which is not there.", v)
}

func (e *engine) getCwd(ctx context.Context) outcome {
	read := e.target
	defer func() { e.target = read }()
	e.target.Settings.ReadOnlyRootFS = true
	sum, err := e.fetch(ctx, e.newest.Version)
	switch {
	case err != nil && artifact.ClassOf(err) != artifact.Failed:
		return failWith(fixGet, err)
	case err != nil:
		return skip("it writes elsewhere in its container too, which goes with that: it cannot have read_only_rootfs")
	case sum.Hash != e.tree:
		return pass("with read_only_rootfs too; the files are others each time")
	}
	return pass("with read_only_rootfs too")
}

// maxLooked is the size up to which files are searched for secrets.
const maxLooked = 8 << 20

// lookForSecrets notes the fetched files that contain secrets of the source.
func (e *engine) lookForSecrets(dir string) error {
	hidden := e.secretTexts()
	if len(hidden) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > maxLooked {
			return err
		}
		content, err := fs.ReadFile(root.FS(), path)
		if err != nil {
			return err
		}
		holds := func(text string) bool { return bytes.Contains(content, []byte(text)) }
		if slices.ContainsFunc(hidden, holds) && !slices.Contains(e.holding, path) {
			e.holding = append(e.holding, filepath.ToSlash(path))
		}
		return nil
	})
}

func (e *engine) secretTexts() (texts []string) {
	for _, text := range secret.Values(e.o.Source, e.o.Sensitive) {
		if len(text) >= secret.MinEmbedded {
			texts = append(texts, text)
		}
	}
	return texts
}

func (e *engine) secrets(context.Context) outcome {
	hidden := e.secretTexts()
	if len(hidden) == 0 {
		return skip("nothing of the source is marked: in a file in .hcl, password = sensitive(\"...\")")
	}
	hider := secret.NewHider(hidden)
	for _, line := range e.lines {
		if hider.Hide(line) != line {
			return fail("Print no secret, also not in error messages: what an image prints is shown and recorded.",
				"A marked value of the source was printed.")
		}
	}
	for _, r := range e.runs {
		for stream, printed := range map[string][]byte{"stdout": r.result.Stdout, "stderr": r.result.Stderr} {
			if hider.Hide(string(printed)) != string(printed) {
				return fail("Print no secret, also not in error messages: what an image prints is shown and recorded.",
					"A marked value of the source was printed on %s of %s.", stream, r.spec.Name)
			}
		}
	}
	if len(e.holding) > 0 {
		return pass("but these fetched files hold them, for all who are granted the plug: %s", words.All(e.holding))
	}
	return pass("%s were looked through", words.Count(len(e.runs), "run"))
}
