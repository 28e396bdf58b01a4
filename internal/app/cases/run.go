package cases

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/app/draft"
	"deployster/internal/app/typecache"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/protocol"
	"deployster/state"
)

// Options declare which cases are run.
type Options struct {
	Files []string       // of tests, or directories with them; none = those of the workspace
	Match *regexp.Regexp // only cases with such names, and those that they follow; nil = all
}

// tester runs the cases of a workspace.
type tester struct {
	work    *workspace.Workspace
	types   *typecache.Types
	sources config.Sources
	given   []config.VarInput // by variable files of the workspace
	unknown map[string]bool
}

// Run runs the cases of files; the workspace may have none. An error is one of the files or the manifests: no case was run.
func Run(ctx context.Context, w *workspace.Workspace, o Options) (Report, error) {
	began := time.Now()
	files, err := read(w, o.Files)
	if err != nil || len(files) == 0 {
		return Report{}, err
	}
	t := &tester{work: w, unknown: map[string]bool{}}
	if t.types, err = typecache.New(w); err != nil {
		return Report{}, err
	}
	if t.sources, err = w.Modules.Find(ctx, workspace.Inputs{}); err != nil {
		return Report{}, err
	}
	var diags diag.Diagnostics
	if t.given, diags = config.FindVariables(w.Dir, "", nil, nil); diags.HasErrors() { // the environment does not decide what a test finds
		return Report{}, diags
	}
	report := Report{}
	for _, f := range files {
		wanted := wantedOf(f, o.Match)
		done := map[string]ended{}
		for _, c := range f.Cases {
			if !wanted[c.Name] {
				continue
			}
			if ctx.Err() != nil {
				return Report{}, context.Cause(ctx)
			}
			one := t.run(ctx, f, c, done)
			report.Results = append(report.Results, one)
		}
	}
	report.Unknown, report.Took = sorted(t.unknown), time.Since(began)
	return report, nil
}

// wantedOf returns the names of the cases of a file to run.
func wantedOf(f *config.TestFile, match *regexp.Regexp) map[string]bool {
	wanted := map[string]bool{}
	for i := len(f.Cases) - 1; i >= 0; i-- { // a case follows one above it
		c := f.Cases[i]
		if wanted[c.Name] || match == nil || match.MatchString(c.Name) {
			wanted[c.Name] = true
			if c.Follows != "" {
				wanted[c.Follows] = true
			}
		}
	}
	return wanted
}

func (t *tester) run(ctx context.Context, f *config.TestFile, c config.TestCase, done map[string]ended) Result {
	began := time.Now()
	out := Result{File: f.Name, Name: c.Name, Line: c.Line}
	out.Failures = t.failures(ctx, f, c, done)
	out.Took = time.Since(began)
	return out
}

// failures runs a case, and returns what does not hold.
func (t *tester) failures(ctx context.Context, f *config.TestFile, c config.TestCase, done map[string]ended) []string {
	at := fmt.Sprintf("%s:%d", f.Name, c.Line)
	before, ok := done[c.Follows]
	if c.Follows != "" && !ok {
		return []string{fmt.Sprintf("%s: the case %q, which it follows, has no plan", at, c.Follows)}
	}
	made, err := t.plan(ctx, c, before)
	if err != nil {
		return expected(at, c.Errors, err)
	}
	if len(c.Errors) > 0 {
		return []string{fmt.Sprintf("%s: the plan has no error, and this was expected: %s", at, strings.Join(c.Errors, "; "))}
	}
	done[c.Name] = made
	value, err := t.value(made.plan)
	if err != nil {
		return []string{at + ": " + err.Error()}
	}
	var failures []string
	list, diags := config.JudgeCase(made.manifest, f, c, value)
	for _, one := range list {
		failures = append(failures, fmt.Sprintf("%s:%d: %s", f.Name, one.Line, one.Message))
	}
	for _, d := range diags {
		if d.Severity == diag.Error {
			failures = append(failures, line(at, d))
		}
	}
	return failures
}

// plan plans a case.
func (t *tester) plan(ctx context.Context, c config.TestCase, before ended) (ended, error) {
	variables := append(append([]config.VarInput{}, before.variables...), c.Variables...)
	m, diags := t.work.Load(t.sources, append(append([]config.VarInput{}, t.given...), variables...))
	if diags.HasErrors() {
		return ended{}, diags
	}
	t.work.Secrets.Add(m.Secrets())
	prior, objects := state.Snapshot{}, c.World
	if before.plan != nil {
		result, left, err := before.result(c.World, t.work.Started)
		if err != nil {
			return ended{}, err
		}
		prior, objects = result, over(left, c.World)
	}
	if err := fits(c.World, typesOf(m, prior)); err != nil {
		return ended{}, err
	}
	w := &world{Checker: &t.types.Client.Checker, kept: t.types.Kept, objects: objects, images: map[string]string{}, unknown: t.unknown}
	resources, workers := draft.Limits(0)
	made, diags := plan.Build(ctx, m, prior, w, plan.Options{Version: t.work.Version, Workspace: t.work.Dir, Parallelism: resources,
		InWorkers: workers, Now: t.work.Started, Secret: t.work.Secrets.Learn, Hosts: pins(m)})
	if diags.HasErrors() {
		return ended{}, diags
	}
	return ended{manifest: m, plan: made, world: w, prior: prior, variables: variables}, nil
}

// pins returns machines for the hosts of a manifest, which are not connected to.
func pins(m *config.Manifest) map[string]router.Pin {
	out := map[string]router.Pin{}
	for _, h := range m.Hosts() {
		out[h.Name] = router.Pin{Address: h.Name, Machine: "test " + h.Name, Facts: &protocol.HostFacts{Hostname: h.Name}}
	}
	return out
}

// value returns a plan as assertions see it.
func (t *tester) value(p *plan.Plan) (config.PlanValue, error) {
	secrets := t.work.Secrets
	content, err := jsondoc.Encode(planfile.NewDocument(secrets.Plan(p)))
	if err != nil {
		return config.PlanValue{}, err
	}
	return config.NewPlanValue(events.Redact(content, secrets.Hiding()))
}

// expected returns what is wrong with the errors of a plan: each must be expected, and each expected one must occur.
func expected(at string, texts []string, err error) (failures []string) {
	list := diag.From("Error", err)
	found := make([]bool, len(texts))
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		text, known := line(at, d), false
		for i, part := range texts {
			if strings.Contains(text, part) {
				found[i], known = true, true
			}
		}
		if !known {
			failures = append(failures, text)
		}
	}
	for i, part := range texts {
		if !found[i] {
			failures = append(failures, fmt.Sprintf("%s: no error has this text: %s", at, part))
		}
	}
	return failures
}

// line returns a diagnostic as one text that begins with its place.
func line(at string, d *diag.Diagnostic) string {
	if d.Range != nil {
		at = fmt.Sprintf("%s:%d", d.Range.Filename, d.Range.Start.Line)
	}
	text := d.Summary
	if d.Address != "" {
		text = d.Address + ": " + text
	}
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return at + ": " + text
}
