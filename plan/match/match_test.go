package match_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deployster/internal/base/graph"
	"deployster/plan/match"
)

// file is a type that says what names its things.
func file() match.Type {
	return match.Type{Repository: "docker.io/acme/file", Names: []match.Name{{Pointer: "/path", Scalar: "string"}}}
}

func of(t match.Type, config string) match.Object {
	return match.Object{Type: t, Config: json.RawMessage(config)}
}

// note writes a result as a line for each pair and end.
func note(r match.Result) string {
	var lines []string
	for _, p := range r.Pairs {
		line := p.Address + " "
		switch {
		case p.Recorded == "":
			line += "new"
		case p.Moved():
			line += fmt.Sprintf("from %s (%s)", p.From, p.Why)
		default:
			line += string(p.Why)
		}
		if p.Replaced {
			line += " replaced"
		}
		if p.Owner != "" {
			line += ", the old one is " + p.Owner
		}
		if p.Unsure {
			line += " perhaps"
		}
		for _, d := range p.Differences {
			line += fmt.Sprintf(" %s %s->%s", d.What, d.Old, d.New)
		}
		if p.MayStay {
			line += " may stay"
		}
		lines = append(lines, line)
	}
	for _, e := range r.Ends {
		line := "- " + e.Recorded
		if e.Forget {
			line += " forgotten"
		}
		if e.Owner != "" {
			line += ": " + e.Owner
		}
		if e.Unsure {
			line += " perhaps"
		}
		if e.Deposed {
			line += ", deposed"
		}
		lines = append(lines, line)
	}
	for _, t := range r.Duplicates {
		lines = append(lines, "twice "+t.First+" "+t.Second)
	}
	return strings.Join(lines, "\n")
}

// is reads "address config" pairs, one a line, as resources and as entries of a type.
func is(t match.Type, lines string) (in match.Input) {
	for line := range strings.Lines(lines) {
		address, config, _ := strings.Cut(strings.TrimSpace(line), " ")
		now, was, _ := strings.Cut(config, " <- ")
		if now != "" {
			in.Declared = append(in.Declared, match.Declared{Address: address, Thing: of(t, now)})
		}
		if was != "" {
			in.Recorded = append(in.Recorded, match.Recorded{Key: address, Address: address, Thing: of(t, was)})
		}
	}
	return in
}

func TestMatch_PairsResourcesWithEntries(t *testing.T) {
	t.Parallel()
	a, b, c, a2 := `{"path":"a"}`, `{"path":"b"}`, `{"path":"c"}`, `{"path":"a","text":"2"}`
	old := match.Type{Repository: "docker.io/acme/old"}
	for name, test := range map[string]struct {
		in   match.Input
		want string
	}{
		"nothing changes":             {is(file(), "x "+a+" <- "+a+"\ny "+b+" <- "+b), "x identity\ny identity"},
		"a change in place":           {is(file(), "x "+a2+" <- "+a), "x identity"},
		"a rename":                    {is(file(), "y "+a+"\nx  <- "+a), "y from x (identity)"},
		"a rename and a change":       {is(file(), "y "+a2+"\nx  <- "+a), "y from x (identity)"},
		"a ring":                      {is(file(), "x "+a+" <- "+b+"\ny "+b+" <- "+a), "x from y (identity)\ny from x (identity)"},
		"an element out of a list":    {is(file(), "s[0] "+b+" <- "+a+"\ns[1] "+c+" <- "+b+"\ns[2]  <- "+c), "s[0] from s[1] (identity)\ns[1] from s[2] (identity)\n- s[0], deposed"},
		"another thing":               {is(file(), "x "+b+" <- "+a), `x other replaced /path "a"->"b"`},
		"another thing, and a rename": {is(file(), "x "+b+" <- "+a+"\ny "+a), "x new\ny from x (identity)"},
		"another thing, and the old one is there twice": {is(file(), "x "+b+" <- "+a+"\ny "+a+" <- "+a), "x other replaced, the old one is y /path \"a\"->\"b\"\ny identity"},
		"two blocks, one thing":                         {is(file(), "x "+a+"\ny "+a2), "x new\ny new\ntwice x y"},
		"two entries of one thing":                      {is(file(), "x "+a+" <- "+a+"\ny  <- "+a), "x identity\n- y forgotten: x"},
		"a name that is not there":                      {is(file(), "x {} <- {}"), "x same"},
		"null is as if it was not said":                 {is(file(), `x {"path":null} <- `+a), "x address may stay"},

		"old: nothing changes":                 {is(old, "x "+a+" <- "+a), "x same"},
		"old: a rename":                        {is(old, "y "+a+"\nx  <- "+a), "y from x (same config)"},
		"old: a change":                        {is(old, "x "+b+" <- "+a), "x address may stay"},
		"old: an element out":                  {is(old, "s[0] "+b+" <- "+a+"\ns[1] "+c+" <- "+b+"\ns[2]  <- "+c), "s[0] from s[1] (same config)\ns[1] from s[2] (same config)\n- s[0], deposed"},
		"old: left with the config of a guess": {is(old, "y "+a+"\nx  <- "+a+"\nz  <- "+a), "y from x (same config)\n- z forgotten: y"},
	} {
		if got := note(match.Match(test.in)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// one makes an input of one resource and one entry, both of which may be changed.
func one(here bool, change func(d *match.Declared, e *match.Recorded)) match.Input {
	d := match.Declared{Address: "x", Thing: of(file(), `{"path":"a"}`)}
	e := match.Recorded{Key: "x", Address: "x", Thing: of(file(), `{"path":"a"}`)}
	if !here {
		e.Key, e.Address = "y", "y"
	}
	change(&d, &e)
	return match.Input{Declared: []match.Declared{d}, Recorded: []match.Recorded{e}}
}

func TestMatch_Types(t *testing.T) {
	t.Parallel()
	two := file()
	two.Names = append(two.Names, match.Name{Pointer: "/zone", Default: json.RawMessage(`"eu"`)})
	mirror := file()
	mirror.Repository = "mirror.local/file"
	said, other := file(), match.Type{Repository: "docker.io/else/text", Kind: "file", Names: []match.Name{{Pointer: "/name"}}}
	said.Kind = "file"
	image := func(now, was match.Type) func(*match.Declared, *match.Recorded) {
		return func(d *match.Declared, e *match.Recorded) { d.Thing.Type, e.Thing.Type = now, was }
	}
	hash := func(fragment string) match.Type {
		ty := file()
		ty.Fragment = fragment
		return ty
	}
	memory := file()
	memory.Memory = true
	for name, test := range map[string]struct {
		here   bool
		change func(*match.Declared, *match.Recorded)
		want   string
	}{
		"more names than before":     {false, image(two, file()), "x from y (identity)"},
		"fewer names than before":    {false, image(file(), two), "x from y (identity)"},
		"names where there was none": {false, image(file(), match.Type{Repository: file().Repository}), "x from y (identity)"},
		"a mirror":                   {true, image(mirror, file()), "x identity"},
		"a mirror, elsewhere":        {false, image(mirror, file()), "x new\n- y forgotten: x"},
		"a kind that is said today":  {false, image(said, file()), "x from y (identity)"},
		"another image of the kind": {false, func(d *match.Declared, e *match.Recorded) {
			d.Thing, e.Thing.Type = of(other, `{"name":"a"}`), said
		}, "x from y (identity)"},
		"another kind that is said": {true, image(match.Type{Repository: "r", Kind: "text", Names: file().Names}, said), "x other replaced kind file->text"},
		"another part of an image":  {true, image(hash("a"), hash("b")), "x other replaced kind docker.io/acme/file#b->docker.io/acme/file#a"},
		"what remembers, renamed":   {false, image(memory, memory), "x from y (same config)"},
		"what remembers, elsewhere": {false, func(d *match.Declared, e *match.Recorded) {
			d.Thing, e.Thing = of(memory, `{"path":"a","text":"2"}`), of(memory, `{"path":"a"}`)
		}, "x new\n- y"},
		"what remembers, left over": {false, func(d *match.Declared, e *match.Recorded) {
			d.Role = match.ReadOnly
			d.Thing.Type, e.Thing.Type = memory, memory
		}, "x new\n- y"},
		"what remembers, here": {true, func(d *match.Declared, e *match.Recorded) {
			d.Thing, e.Thing = of(memory, `{"path":"b"}`), of(memory, `{"path":"a"}`)
		}, "x address"},
	} {
		if got := note(match.Match(one(test.here, test.change))); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

func TestMatch_Surroundings(t *testing.T) {
	t.Parallel()
	plugs := func(now, was match.Plug) func(*match.Declared, *match.Recorded) {
		return func(d *match.Declared, e *match.Recorded) {
			d.Thing.Plugs, e.Thing.Plugs = []match.Plug{now}, []match.Plug{was}
		}
	}
	w1, w2 := match.Plug{Name: "w", Path: "/1", Writable: true}, match.Plug{Name: "w", Path: "/2", Writable: true}
	r1, r2 := match.Plug{Name: "w", Path: "/1"}, match.Plug{Name: "w", Path: "/2"}
	for name, test := range map[string]struct {
		here   bool
		change func(*match.Declared, *match.Recorded)
		want   string
	}{
		"another host":              {true, func(d *match.Declared, e *match.Recorded) { d.Thing.Host, e.Thing.Host = "b", "a" }, "x other replaced host a->b"},
		"another host, elsewhere":   {false, func(d *match.Declared, e *match.Recorded) { d.Thing.Host, e.Thing.Host = "b", "a" }, "x new\n- y"},
		"another path":              {true, plugs(w2, w1), "x other replaced plug w /1->/2"},
		"another path, only read":   {true, plugs(r2, r1), "x same"},
		"another path, read before": {true, plugs(w2, r1), "x same may stay"},
		"another path, elsewhere":   {false, plugs(r2, r1), "x from y (identity)"},
		"another environment":       {false, func(d *match.Declared, _ *match.Recorded) { d.Thing.Env = "A=1" }, "x from y (identity)"},
		"another network":           {true, func(d *match.Declared, _ *match.Recorded) { d.Thing.Network = "none" }, "x same"},
	} {
		if got := note(match.Match(one(test.here, test.change))); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// Two blocks mean one thing also where their images are two of one kind, or two versions
// of one, each by the defaults of its own.
func TestMatch_TwiceAcrossImages(t *testing.T) {
	t.Parallel()
	ty := func(repository, kind, pointer, preset string) match.Type {
		name := match.Name{Pointer: pointer, Scalar: "string"}
		if preset != "" {
			name.Default = json.RawMessage(preset)
		}
		return match.Type{Repository: repository, Kind: kind, Names: []match.Name{name}}
	}
	const a = `{"path":"a"}`
	for name, test := range map[string]struct {
		first, second match.Object
		want          bool
	}{
		"two images of one kind":              {of(ty("acme", "file", "/path", ""), a), of(ty("mirror", "file", "/path", ""), a), true},
		"which name their things otherwise":   {of(ty("acme", "file", "/path", ""), a), of(ty("else", "file", "/at", ""), `{"at":"a"}`), true},
		"two kinds":                           {of(ty("acme", "file", "/path", ""), a), of(ty("acme2", "text", "/path", ""), a), false},
		"two images that say no kind":         {of(ty("acme", "", "/path", ""), a), of(ty("mirror", "", "/path", ""), a), false},
		"two versions with another default":   {of(ty("acme", "", "/path", ""), a), of(ty("acme", "", "/path", `"b"`), a), true},
		"and what they have by that":          {of(ty("acme", "", "/path", `"a"`), `{}`), of(ty("acme", "", "/path", `"b"`), `{}`), false},
		"one that says it, and one that does": {of(ty("acme", "", "/path", `"b"`), a), of(ty("acme", "", "/path", `"a"`), `{}`), true},
	} {
		r := match.Match(match.Input{Declared: []match.Declared{{Address: "x", Thing: test.first}, {Address: "y", Thing: test.second}}})
		if got := len(r.Duplicates) == 1; got != test.want {
			t.Errorf("%s: %v", name, r.Duplicates)
		}
	}
}

// Where env, network or what is only read are others, nobody can tell whether it is another object: it is
// moved or left, and never destroyed.
func TestMatch_OtherSurroundings(t *testing.T) {
	t.Parallel()
	const a, b, c, a2 = `{"path":"a"}`, `{"path":"b"}`, `{"path":"c"}`, `{"path":"a","v":2}`
	read := func(path string) []match.Plug { return []match.Plug{{Name: "conf", Path: path}} }
	for name, test := range map[string]struct {
		lines string
		edit  func(in *match.Input)
		want  string
	}{
		"an element out of a list": {"s[0] " + b + " <- " + a + "\ns[1] " + c + " <- " + b + "\ns[2]  <- " + c, nil,
			"s[0] from s[1] (identity)\ns[1] from s[2] (identity)\n- s[0], deposed"},
		"a ring":                {"x " + a + " <- " + b + "\ny " + b + " <- " + a, nil, "x from y (identity)\ny from x (identity)"},
		"a rename and a change": {"y " + a2 + "\nx  <- " + a, nil, "y from x (identity)"},
		"a change in place":     {"x " + a2 + " <- " + a, nil, "x address"},
		"in place, and a twin that is left over": {"x " + a2 + " <- " + a + "\nw  <- " + a, nil,
			"x address\n- w forgotten: x perhaps"},
		"another thing, and the old one is only looked at elsewhere": {"x " + b + " <- " + a + "\ny " + a, func(in *match.Input) {
			in.Declared[1].Role = match.ReadOnly
		}, "x other replaced, the old one is y perhaps /path \"a\"->\"b\"\ny new"},
		"in place, and the one of another region is left over": {"x " + a + " <- " + a + "\nw  <- " + a, func(in *match.Input) {
			now := in.Declared[0].Thing
			in.Recorded[0].Thing.Env, in.Recorded[0].Thing.Network, in.Recorded[0].Thing.Plugs = now.Env, now.Network, now.Plugs
		}, "x identity\n- w"},
		"-replace, and a twin with the env of then": {"x " + a + " <- " + a + "\nw " + a, func(in *match.Input) {
			in.Declared[0].Replace = true
			in.Declared[1].Thing.Env = "other"
		}, "w new\nx same replaced"},
	} {
		for part, set := range map[string]func(t *match.Object){
			"env": func(t *match.Object) { t.Env = "T=2" }, "network": func(t *match.Object) { t.Network = "none" },
			"path that is read": func(t *match.Object) { t.Plugs = read("/new") }, "number of plugs that are read": func(t *match.Object) { t.Plugs = nil }} {
			in := is(file(), test.lines)
			for i := range in.Recorded {
				in.Recorded[i].Thing.Plugs = read("/old")
			}
			for i := range in.Declared {
				in.Declared[i].Thing.Plugs = read("/old")
			}
			for i := range in.Declared {
				set(&in.Declared[i].Thing)
			}
			if test.edit != nil {
				test.edit(&in)
			}
			if got := note(match.Match(in)); got != test.want {
				t.Errorf("%s, another %s:\n%s\nwant\n%s", name, part, got, test.want)
			}
		}
	}
}

func TestMatch_Roles(t *testing.T) {
	t.Parallel()
	roles := func(now, was match.Role, config string) func(*match.Declared, *match.Recorded) {
		return func(d *match.Declared, e *match.Recorded) {
			d.Role, e.Role = now, was
			d.Thing.Config = json.RawMessage(config)
		}
	}
	const same, another = `{"path":"a"}`, `{"path":"b"}`
	for name, test := range map[string]struct {
		here   bool
		change func(*match.Declared, *match.Recorded)
		want   string
	}{
		"only looked at, elsewhere":      {false, roles(match.ReadOnly, match.Managed, same), "x new\n- y forgotten: x"},
		"only looked at from now on":     {true, roles(match.ReadOnly, match.Managed, same), "x identity"},
		"another one is only looked at":  {true, roles(match.ReadOnly, match.Managed, another), "x new\n- x, deposed"},
		"another one than was looked at": {true, roles(match.Managed, match.ReadOnly, another), "x address"},
		"looked at before, elsewhere":    {false, roles(match.Managed, match.ReadOnly, same), "x new\n- y forgotten"},
		"published, at its address":      {true, roles(match.Publish, match.Publish, another), "x address"},
		"published, elsewhere":           {false, roles(match.Publish, match.Publish, same), "x new\n- y"},
		"published where something was":  {true, roles(match.Publish, match.Managed, same), "x new\n- x, deposed"},
		"-replace":                       {true, func(d *match.Declared, _ *match.Recorded) { d.Replace = true }, "x identity replaced"},
		"late":                           {true, func(d *match.Declared, _ *match.Recorded) { d.Late = true }, "x address may stay"},
		"late, elsewhere":                {false, func(d *match.Declared, _ *match.Recorded) { d.Late = true }, "x new\n- y"},
		"must be new: nothing is guessed": {false, func(d *match.Declared, e *match.Recorded) {
			d.New = true
			d.Thing.Type.Names, e.Thing.Type.Names = nil, nil
		}, "x new\n- y"},
		"deposed, and wanted again": {true, func(_ *match.Declared, e *match.Recorded) { e.Key, e.Deposed = "x (deposed)", true }, "x from x (deposed) (identity)"},
		"deposed, and another one is there": {true, func(d *match.Declared, e *match.Recorded) {
			e.Key, e.Deposed = "x (deposed)", true
			d.Thing.Config = json.RawMessage(another)
		}, "x new\n- x (deposed), deposed"},
	} {
		if got := note(match.Match(one(test.here, test.change))); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// What is ignored of an identity is as it was recorded, where that fits one resource and
// one entry only.
func TestMatch_Ignored(t *testing.T) {
	t.Parallel()
	two := file()
	two.Names = append(two.Names, match.Name{Pointer: "/zone"})
	const name = "/path"
	for title, test := range map[string]struct {
		ty    match.Type
		lines string
		edit  func(in *match.Input)
		want  string
	}{
		"a rename":              {two, `b {"path":"2","zone":"x"}` + "\n" + `a  <- {"path":"1","zone":"x"}`, nil, "b from a (identity)"},
		"and a change":          {two, `b {"path":"2","text":"2","zone":"x"}` + "\n" + `a  <- {"path":"1","zone":"x"}`, nil, "b from a (identity)"},
		"the rest is another":   {two, `b {"path":"2","zone":"y"}` + "\n" + `a  <- {"path":"1","zone":"x"}`, nil, "b new\n- a"},
		"no rest":               {file(), `b {"path":"2","text":"t"}` + "\n" + `a  <- {"path":"1","text":"t"}`, nil, "b from a (identity)"},
		"no rest, and a change": {file(), `b {"path":"2","text":"u"}` + "\n" + `a  <- {"path":"1","text":"t"}`, nil, "b new\n- a"},
		"at its address, another has left": {file(), `a {"path":"2"} <- {"path":"1"}` + "\n" + `b {"path":"1"}` + "\n" + `c  <- {"path":"3"}`, nil,
			"a new\nb from a (identity)\n- c"},
		"two entries":   {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}` + "\n" + `c  <- {"path":"3"}`, nil, "b new\n- a\n- c"},
		"two resources": {file(), `b {"path":"2"}` + "\n" + `c {"path":"3"}` + "\n" + `a  <- {"path":"1"}`, nil, "b new\nc new\n- a"},
		"two resources that ignore other parts": {two, `b {"path":"2","zone":"x"}` + "\n" + `c {"path":"3","zone":"y"}` + "\n" + `a  <- {"path":"1","zone":"x"}`,
			func(in *match.Input) { in.Declared[1].Ignored = []string{""} }, "b new\nc new\n- a"},
		"two entries, one of which is another's": {file(), `b {"path":"2"}` + "\n" + `c {"path":"3"} <- {"path":"3"}` + "\n" + `a  <- {"path":"1"}` + "\n" + `d  <- {"path":"3"}`,
			nil, "b from a (identity)\nc identity\n- d forgotten: c"},
		"the thing of another": {file(), `b {"path":"2"}` + "\n" + `c {"path":"3"} <- {"path":"3"}` + "\n" + `d  <- {"path":"3"}`, nil,
			"b new\nc identity\n- d forgotten: c"},
		"one may be it": {file(), `b {"path":"2"}` + "\n" + `c {"path":null}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Declared[1].Late = true },
			"b new\nc new\n- a"},
		"it is not known yet":  {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Declared[0].Late = true }, "b new\n- a"},
		"another env":          {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Declared[0].Thing.Env = "T=2" }, "b new\n- a"},
		"only looked at":       {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Declared[0].Role = match.ReadOnly }, "b new\n- a"},
		"only looked at then":  {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Recorded[0].Role = match.ReadOnly }, "b new\n- a forgotten"},
		"it was deposed":       {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Recorded[0].Deposed = true }, "b new\n- a, deposed"},
		"it is said to leave":  {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Recorded[0].Removed = true }, "b new\n- a"},
		"nothing of it":        {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Declared[0].Ignored = []string{"/pat"} }, "b new\n- a"},
		"another type":         {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Recorded[0].Thing.Type.Repository = "docker.io/acme/x" }, "b new\n- a"},
		"what it is remembers": {file(), `b {"path":"2"}` + "\n" + `a  <- {"path":"1"}`, func(in *match.Input) { in.Recorded[0].Thing.Type.Memory = true }, "b new\n- a"},
	} {
		in := is(test.ty, test.lines)
		for i := range in.Declared {
			in.Declared[i].Ignored = []string{name}
		}
		if test.edit != nil {
			test.edit(&in)
		}
		if got := note(match.Match(in)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", title, got, test.want)
		}
	}
}

// Values are compared as the schema has them.
func TestCompare_Values(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scalar, now, was string
		want             match.Relation
	}{
		{"integer", `80`, `"80"`, match.Equal},
		{"string", `"80"`, `80`, match.Equal},
		{"number", `1.0`, `1`, match.Equal},
		{"boolean", `"true"`, `true`, match.Equal},
		{"integer", `80`, `81`, match.Differs},
		{"", `"80"`, `80`, match.Differs},
		{"string", `"1.0"`, `"1"`, match.Differs},
		{"", `{"a":1}`, `{"a":1}`, match.Equal},
		{"", `null`, `"eu"`, match.Equal}, // which is the default
		{"", `null`, `"us"`, match.Differs},
	} {
		ty := match.Type{Names: []match.Name{{Pointer: "/v", Scalar: test.scalar, Default: json.RawMessage(`"eu"`)}}}
		if got, _ := match.Compare(of(ty, `{"v":`+test.now+`}`), of(ty, `{"v":`+test.was+`}`), true); got != test.want {
			t.Errorf("%s: %s and %s: %v", test.scalar, test.now, test.was, got)
		}
	}
}

func TestInput_LearnTwice(t *testing.T) {
	t.Parallel()
	in := one(false, func(d *match.Declared, _ *match.Recorded) { d.Late = true })
	err := in.Learn("x", of(file(), `{"path":"a"}`))
	if got := note(match.Match(in)); err != nil || got != "x from y (identity)" {
		t.Errorf("%s (%v)", got, err)
	}
	if err = in.Learn("x", of(file(), `{"path":"b"}`)); err == nil {
		t.Error("it changes a second time")
	}
}

// A guess that does not hold takes back all others about its image.
func TestInput_Refute(t *testing.T) {
	t.Parallel()
	old, other := match.Type{Repository: "docker.io/acme/old"}, match.Type{Repository: "docker.io/acme/other"}
	in := is(old, `c {"v":1}`+"\n"+`d {"v":2}`+"\n"+`a  <- {"v":1}`+"\n"+`b  <- {"v":2}`)
	more := is(other, `y {"v":1}`+"\n"+`x  <- {"v":1}`)
	in.Declared, in.Recorded = append(in.Declared, more.Declared...), append(in.Recorded, more.Recorded...)
	if got := note(match.Match(in)); strings.Count(got, "(same config)") != 3 {
		t.Errorf("not three guesses: %s", got)
	}
	in.Refute("d")
	if got := note(match.Match(in)); got != "c new\nd new\ny from x (same config)\n- a\n- b" {
		t.Error(got)
	}
}

// A guess that nothing can confirm says nothing about the others.
func TestInput_Withdraw(t *testing.T) {
	t.Parallel()
	old := match.Type{Repository: "docker.io/acme/old"}
	in := is(old, `c {"v":1}`+"\n"+`d {"v":2}`+"\n"+`a  <- {"v":1}`+"\n"+`b  <- {"v":2}`)
	in.Withdraw("d")
	if got := note(match.Match(in)); got != "c from a (same config)\nd new\n- b" {
		t.Error(got)
	}
}

// Where nobody can tell, another host is another object when nothing else is left.
func TestMatch_OldTypeOnAnotherHost(t *testing.T) {
	t.Parallel()
	in := one(true, func(d *match.Declared, e *match.Recorded) {
		d.Thing.Type.Names, e.Thing.Type.Names = nil, nil
		d.Thing.Host, e.Thing.Host = "b", "a"
	})
	if got := note(match.Match(in)); got != "x other replaced host a->b" {
		t.Error(got)
	}
}

func TestOrder_PutsEndsBeforeBegins(t *testing.T) {
	t.Parallel()
	g := func(text string) graph.Graph {
		g := graph.Graph{}
		for part := range strings.FieldsSeq(text) {
			node, before, _ := strings.Cut(part, "<")
			g[node] = strings.FieldsFunc(before, func(r rune) bool { return r == ',' })
		}
		return g
	}
	for name, test := range map[string]struct {
		before   graph.Graph
		releases []match.Edge
		begins   []match.Begin
		ends     []match.Finish
		want     string // the layers, what is held, what is loose
	}{
		"an end goes first": {g("b e"), nil, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "e", Class: "c"}}, "[[e] [barrier:1] [b]] [] []"},
		"another class":     {g("b e"), nil, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "e", Class: "d"}}, "[[b e] [barrier:1]] [] []"},
		"create first":      {g("b o<b"), nil, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "o", Class: "c", Of: "b", CreateFirst: true}}, "[[b] [o] [barrier:1]] [] [b]"},
		"another beside create first": {g("a b o<b"), nil, []match.Begin{{Node: "a", Class: "c"}, {Node: "b", Class: "c"}},
			[]match.Finish{{Node: "o", Class: "c", Of: "b", CreateFirst: true}}, "[[b] [o] [barrier:1] [a]] [] [b]"},
		"create first after an end": {g("b e o<b"), nil, []match.Begin{{Node: "b", Class: "c"}},
			[]match.Finish{{Node: "o", Class: "c", Of: "b", CreateFirst: true}, {Node: "e", Class: "c"}}, "[[e] [barrier:1] [b] [o] [barrier:2]] [] [b]"},
		"an end that waits for a beginning": {g("b e<b"), nil, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "e", Class: "c"}},
			"[[b] [e] [barrier:1]] [] [b]"},
		"a late identity": {g("p b<p e"), nil, []match.Begin{{Node: "b", Class: "c", Late: true}}, []match.Finish{{Node: "e", Class: "c"}},
			"[[p] [known:1] [e] [barrier:2] [b]] [] []"},
		"a late identity that waits for the end": {g("p<e b<p e"), nil, []match.Begin{{Node: "b", Class: "c", Late: true}}, []match.Finish{{Node: "e", Class: "c"}},
			"[[e] [p] [b known:1]] [e] []"},
		"a late identity that is left out": {g("e"), nil, []match.Begin{{Node: "b", Class: "c", Late: true, LeftOut: true}}, []match.Finish{{Node: "e", Class: "c"}},
			"[[e]] [e] []"},
		"a release": {g("b e"), []match.Edge{{Node: "e", After: "b"}}, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "e", Class: "d"}},
			"[[b] [e] [barrier:1]] [] []"},
		"a release in a circle": {g("b<e e"), []match.Edge{{Node: "e", After: "b"}}, []match.Begin{{Node: "b", Class: "c"}}, []match.Finish{{Node: "e", Class: "c"}},
			"[[e] [barrier:1] [b]] [] []"},
	} {
		o := match.Order(test.before, test.releases, test.begins, test.ends)
		layers, err := o.Before.Layers()
		if got := fmt.Sprint(layers, o.Held, o.Loose); err != nil || got != test.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, test.want)
		}
	}
}

// The order takes as many edges as there are ends and beginnings, not their product.
func TestOrder_Edges(t *testing.T) {
	t.Parallel()
	const n = 2000
	g := graph.Graph{}
	var begins []match.Begin
	var ends []match.Finish
	for i := range n {
		b, e := fmt.Sprintf("b%d", i), fmt.Sprintf("e%d", i)
		g[b], g[e] = nil, nil
		begins = append(begins, match.Begin{Node: b, Class: "c", Late: i%10 == 0})
		ends = append(ends, match.Finish{Node: e, Class: "c"})
	}
	o := match.Order(g, nil, begins, ends)
	edges := 0
	for _, list := range o.Before {
		edges += len(list)
	}
	if edges > 3*n+n || len(o.Barriers) != 1 || len(o.Held) > 0 {
		t.Errorf("%d edges, %d barriers, %d held", edges, len(o.Barriers), len(o.Held))
	}
	layers, err := o.Before.Layers()
	if err != nil || len(layers) != 4 {
		t.Errorf("%d layers (%v)", len(layers), err)
	}
}

// Twice as many resources, all of which move, take twice the work.
func TestMatch_Many(t *testing.T) {
	for name, ty := range map[string]match.Type{"identity": file(), "config": {Repository: "docker.io/acme/old"}} {
		work := func(n int) float64 {
			var lines strings.Builder
			for i := range n {
				fmt.Fprintf(&lines, "s[%d] {\"path\":\"%d\"} <- {\"path\":\"%d\"}\n", i, i, (i+1)%n)
			}
			in := is(ty, lines.String())
			for _, p := range match.Match(in).Pairs {
				if !p.Moved() {
					t.Fatalf("%s: %+v", name, p)
				}
			}
			return testing.AllocsPerRun(1, func() { match.Match(in) })
		}
		if one, two := work(500), work(1000); two > 2.3*one {
			t.Errorf("%s: %.0f allocations for 500, %.0f for 1000", name, one, two)
		}
	}
}
