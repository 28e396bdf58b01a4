package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner"
	"deployster/state"
	"deployster/state/content"
)

// passedBy makes the block name resources in passed: each has the instances, and each instance the versions, of a text like
// "tests: 1 2; other[0]: 1; other[1]:".
func passedBy(space, text string) func(*scene) {
	return func(s *scene) {
		var declared []*config.Resource
		recorded := state.Snapshot{Resources: map[string]state.Entry{}}
		for _, one := range strings.Split(text, ";") {
			addr, versions, made := strings.Cut(strings.TrimSpace(one), ":")
			block, _, _ := strings.Cut(addr, "[")
			if !slices.Contains(s.block.Passed, block) {
				s.block.Passed = append(s.block.Passed, block)
			}
			if !made {
				continue // it has no instance
			}
			declared = append(declared, &config.Resource{Address: addr})
			e := state.Entry{}
			for _, ref := range strings.Fields(versions) {
				line := content.Line(s.block.TypeRef, json.RawMessage(`{"uri":"u"}`), nil)
				if other, is := strings.CutPrefix(ref, "elsewhere"); is {
					ref, line = other, "another"
				}
				e.Passed = content.Passes(e.Passed, state.Passed{Line: line, Space: space, Version: artifact.Version{"ref": ref}})
			}
			recorded.Resources[addr] = e
		}
		s.o.Passing = map[string]Passing{"site": passingOf(s.block, declared, recorded)}
	}
}

// fromStart makes the image list all versions, whatever it is queried from: many images of Concourse do.
func fromStart(s *scene) { s.o.Client = listing{s.world} }

type listing struct{ *artifacttest.World }

func (l listing) Check(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	in.From = nil
	return l.World.Check(ctx, t, i, in)
}

// Only a version that all instances of all named resources have passed is used, never one from before the version in use, and a
// newer one is said to wait.
func TestPassed_ChoosesTheVersion(t *testing.T) {
	t.Parallel()
	a, b := line("main", "1", "2", "3"), line("", "1", "2", "3")
	both := func(edits ...func(*scene)) func(*scene) {
		return func(s *scene) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	gone := line("main", "0")[0]
	for name, c := range map[string]struct {
		scene *scene
		edit  func(*scene)
		want  string
	}{
		"the newest has":              {newScene(t, v2, a...), passedBy("main", "tests: 1 3"), "3 was  newer 0"},
		"an older one has":            {newScene(t, v2, a...), passedBy("main", "tests: 1 2"), "2 was  newer 0, 3 waits for resource.tests"},
		"v1":                          {newScene(t, v1, b...), passedBy("", "tests: 2"), "2 was  newer 0, 3 waits for resource.tests"},
		"none has":                    {newScene(t, v2, a...), passedBy("main", "tests:"), "error no listed version of artifact.site has passed: 3 waits for resource.tests"},
		"in another space":            {newScene(t, v2, a...), passedBy("other", "tests: 3"), "error no listed version of artifact.site has passed: 3 waits"},
		"from another source":         {newScene(t, v2, a...), passedBy("main", "tests: elsewhere3"), "error no listed version of artifact.site has passed: 3 waits"},
		"a resource without instance": {newScene(t, v2, a...), passedBy("main", "tests"), "error no listed version of artifact.site has passed: 3 waits"},
		"one of two resources":        {newScene(t, v2, a...), passedBy("main", "tests: 1 2 3; more: 2"), "2 was  newer 0, 3 waits for resource.more"},
		"one without instance of two": {newScene(t, v2, a...), passedBy("main", "tests: 3; more"), "error no listed version of artifact.site has passed: 3 waits for resource.more"},
		"one of two instances":        {newScene(t, v2, a...), passedBy("main", "tests[0]: 2 3; tests[1]: 2"), "2 was  newer 0, 3 waits for resource.tests"},
		"the version in use stays":    {newScene(t, v2, a...).recorded(t, a[1]), passedBy("main", "tests: 1"), "2 was 2 newer 0, 3 waits for resource.tests"},
		"listed from the start":       {newScene(t, v1, b...).recorded(t, b[1]), both(passedBy("", "tests: 1"), fromStart), "2 was 2 newer 0, 3 waits for resource.tests"},
		"in use, and lost its passes": {newScene(t, v2, a...).recorded(t, a[2]), passedBy("main", "tests: 1"), "3 was 3 newer 0"},
		"newer than in use":           {newScene(t, v2, a...).recorded(t, a[0]), passedBy("main", "tests: 2"), "2 was 1 newer 1, 3 waits for resource.tests"},
		"in use is gone":              {newScene(t, v2, a...).recorded(t, gone), passedBy("main", "tests: 2"), "2 was 0 newer 0 unlisted, 3 waits for resource.tests"},
		"in use is gone, none has":    {newScene(t, v2, a...).recorded(t, gone), passedBy("main", "tests: 0"), "error no listed version of artifact.site has passed: 3 waits"},
		"nothing is listed":           {newScene(t, v1).recorded(t, b[0]), passedBy("", "tests: 1"), "1 was 1 newer 0"},
		"there is no version":         {newScene(t, v2), passedBy("main", "tests:"), "error artifact.site has no version yet"},
		"pinned at one that has":      {newScene(t, v2, a...), both(passedBy("main", "tests: 1 2"), pinned("1")), "1 was  newer 2 pinned in manifest"},
		"pinned at one that has not":  {newScene(t, v2, a...), both(passedBy("main", "tests: 1"), locked("3")), "error artifact.site is pinned at a version that has not passed"},
		"pinned at the one in use":    {newScene(t, v2, a...).recorded(t, a[2]), both(passedBy("main", "tests:"), locked("3")), "3 was 3 newer 0 pinned in lock file"},
		"believed":                    {newScene(t, v2, a...).recorded(t, a[0]), both(passedBy("main", "tests: 3"), follow("app")), "1 was 1 newer 0 believed"},
		"followed":                    {newScene(t, v2, a...).recorded(t, a[0]), both(passedBy("main", "tests: 3"), follow("site")), "3 was 1 newer 2"},
		"followed, in use is gone":    {newScene(t, v2, a...).recorded(t, gone), both(passedBy("main", "tests: 3"), follow("site")), "0 was 0 newer 0 believed noted"},
	} {
		c.edit(c.scene)
		p, err := c.scene.resolve()
		failure, fails := strings.CutPrefix(c.want, "error ")
		got := told(p, err)
		if p.Waits != nil {
			got += fmt.Sprintf(", %s waits for %s", p.Waits, References(p.WaitsFor))
		}
		if !fails && got != c.want || fails && (err == nil || !strings.Contains(got, failure)) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
		if s := p.Spaces["main"]; err == nil && s.Version != nil && !p.Recipe.Version.Is(s.Version) || len(p.Spaces) > 1 {
			t.Errorf("%s: expressions see what has not passed: %v", name, p.Spaces)
		}
	}
}

// A resource passes the versions that its config and its plugs use.
func TestPasses_WhatAResourceUses(t *testing.T) {
	t.Parallel()
	pin := func(name, uri, ref string) Pin {
		p := Pin{Key: "key of " + name}
		p.Type, p.Recipe = "acme/git:1", artifact.Recipe{Source: json.RawMessage(`{"uri":"` + uri + `"}`), Version: artifact.Version{"ref": ref}}
		return p
	}
	pins := map[string]Pin{"site": pin("site", "u", "1"), "files": pin("files", "v", "2"), "unused": pin("unused", "w", "3")}
	mounts := []runner.Mount{{Source: artifact.MountSource("key of files", "dist")}, {Source: "/path"}}
	list := Passes(nil, pins, &config.Resource{Artifacts: []string{"site"}}, mounts)
	var got []string
	for _, p := range list {
		got = append(got, p.Version.String())
	}
	if slices.Sort(got); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%v", list)
	}
	if again := Passes(list, pins, nil, mounts); len(again) != 2 || again[1].Version["ref"] != "2" {
		t.Errorf("a version that passes again is the last one, once: %v", again)
	}
}
