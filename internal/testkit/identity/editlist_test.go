package identity_test

import (
	"fmt"
	"strings"
)

// edit is a change of manifests: what is declared before, and what after it.
type edit struct {
	name   string
	before []part
	after  []part
	then   []part   // a third manifest; nil = there is none
	forget string   // an address that `state rm` takes out before the second one is applied
	alone  bool     // the other tool has nothing that corresponds
	want   []string // the things that are there in the end; nil = those that after declares
	refuse string   // the summary of the error with which the second plan ends
}

// part is a piece of the manifests of an edit, in the languages of both tools.
type part struct {
	module string // the directory that it is in; "" = the root
	body   func(d dialect) string
}

// dialect is the language of one tool.
type dialect struct {
	reference     string // what begins an address
	config, state string // the parts of a resource that are wanted, and known
	block         func(name, meta, image, id, v string) string
}

// ref is the address of a resource in a module, in the language.
func (d dialect) ref(module, name string) string {
	if module != "" {
		return "module." + module + "." + d.reference + "." + name
	}
	return d.reference + "." + name
}

func block(name, meta, image, id, v string) part {
	return part{body: func(d dialect) string { return d.block(name, meta, image, id, v) }}
}

// one declares a thing.
func one(name string, id int) part { return block(name, "", "lab/id:1", fmt.Sprint(id), "1") }

// changed declares a thing that is to be other than that of one.
func changed(name string, id int) part { return block(name, "", "lab/id:1", fmt.Sprint(id), "2") }

// with declares a thing with more than its config.
func with(name string, id int, meta string) part {
	return block(name, meta, "lab/id:1", fmt.Sprint(id), "1")
}

// of declares a thing of a type.
func of(image, name string, id int) part { return block(name, "", image, fmt.Sprint(id), "1") }

// list declares a thing for each element of a list, with count.
func list(ids ...int) part {
	return block("s", fmt.Sprintf("count = %d", len(ids)), "lab/id:1", tuple(ids)+"[count.index]", "1")
}

func tuple(ids []int) string { return strings.ReplaceAll(fmt.Sprint(ids), " ", ", ") }

// keyed declares a thing for each key, which is followed by its id: "a 1".
func keyed(name string, pairs ...string) part {
	var entries []string
	for _, p := range pairs {
		entries = append(entries, strings.Replace(p, " ", " = ", 1))
	}
	return block(name, "for_each = { "+strings.Join(entries, ", ")+" }", "lab/id:1", "each.value", "1")
}

// in puts parts into a module.
func in(module string, parts ...part) []part {
	for i := range parts {
		parts[i].module = module
	}
	call := part{body: func(dialect) string { return fmt.Sprintf("module %q {\n  source = \"./%s\"\n}\n", module, module) }}
	return append([]part{call}, parts...)
}

// moved says where a resource is now.
func moved(fromModule, from, toModule, to string) part {
	return part{body: func(d dialect) string {
		return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", d.ref(fromModule, from), d.ref(toModule, to))
	}}
}

// forgotten takes a resource out of the state, and leaves its thing.
func forgotten(name string) part {
	return part{body: func(d dialect) string {
		return fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", d.ref("", name))
	}}
}

// needs makes a resource wait for another.
func needs(name string, id int, other string) part {
	return part{body: func(d dialect) string {
		return d.block(name, "depends_on = ["+d.ref("", other)+"]", "lab/id:1", fmt.Sprint(id), "1")
	}}
}

// plug declares where the plug of a name leads.
func plug(name, path string) part {
	return part{body: func(dialect) string { return fmt.Sprintf("plug %q {\n  path = %q\n}\n", name, path) }}
}

func parts(list ...part) []part { return list }

const protect = "lifecycle {\n    prevent_destroy = true\n  }"

// edits are the rows of the table, in its order.
func edits() []edit {
	return []edit{
		{name: "a block is renamed", before: parts(one("a", 1)), after: parts(one("b", 1))},
		{name: "a block is renamed, with a `moved` block", before: parts(one("a", 1)), after: parts(one("b", 1), moved("", "a", "", "b"))},
		{name: "a block is renamed, and its config changed", before: parts(one("a", 1)), after: parts(changed("b", 1))},
		{name: "a block is renamed, and another waits for it", before: parts(one("a", 1), needs("c", 2, "a")), after: parts(one("b", 1), needs("c", 2, "b"))},
		{name: "a block goes into a module", before: parts(one("a", 1)), after: in("m", one("a", 1))},
		{name: "a block comes out of a module", before: in("m", one("a", 1)), after: parts(one("a", 1))},
		{name: "a block goes from one module to another", before: in("m", one("a", 1)), after: in("n", one("a", 1))},
		{name: "a module of two blocks is renamed", before: in("m", one("a", 1), one("b", 2)), after: in("n", one("a", 1), one("b", 2))},
		{name: "a `count` list is put in another order", before: parts(list(1, 2, 3)), after: parts(list(3, 1, 2))},
		{name: "the first element of a list is dropped", before: parts(list(1, 2, 3)), after: parts(list(2, 3))},
		{name: "the middle element of a list is dropped", before: parts(list(1, 2, 3)), after: parts(list(1, 3))},
		{name: "the last element of a list is dropped", before: parts(list(1, 2, 3)), after: parts(list(1, 2))},
		{name: "an element is added in front of a list", before: parts(list(1, 2)), after: parts(list(3, 1, 2))},
		{name: "an element is exchanged for another", before: parts(list(1, 2, 3)), after: parts(list(1, 4, 3))},
		{name: "a list is turned round and loses one", before: parts(list(1, 2, 3)), after: parts(list(3, 1))},
		{name: "a key of `for_each` is changed", before: parts(keyed("s", "a 1", "b 2")), after: parts(keyed("s", "c 1", "b 2"))},
		{name: "two keys of `for_each` exchange their objects", before: parts(keyed("s", "a 1", "b 2")), after: parts(keyed("s", "a "+
			"2", "b 1"))},
		{name: "`count` becomes `for_each`", before: parts(list(1, 2)), after: parts(keyed("s", "a 1", "b 2"))},
		{name: "`for_each` becomes `count`", before: parts(keyed("s", "a 1", "b 2")), after: parts(list(1, 2))},
		{name: "a single block becomes a list", before: parts(one("s", 1)), after: parts(list(2, 1))},
		{name: "a list becomes a single block", before: parts(list(1, 2)), after: parts(one("s", 2))},
		{name: "a block is split in two", before: parts(keyed("s", "a 1", "b 2", "c 3")), after: parts(keyed("s", "a 1"), keyed("t", "b 2", "c 3"))},
		{name: "two blocks become one", before: parts(one("a", 1), one("b", 2)), after: parts(keyed("s", "a 1", "b 2"))},
		{name: "two blocks exchange their names", before: parts(one("a", 1), one("b", 2)), after: parts(one("a", 2), one("b", 1))},
		{name: "three blocks exchange their names in a ring", before: parts(one("a", 1), one("b", 2), one("c", 3)),
			after: parts(one("a", 2), one("b", 3), one("c", 1))},
		{name: "an object gets another name", before: parts(one("a", 1)), after: parts(one("a", 2))},
		{name: "an object and its block get another name", before: parts(one("a", 1)), after: parts(one("b", 2))},
		{name: "a block takes the object of a removed one", before: parts(one("a", 1), one("b", 2)), after: parts(one("a", 2))},
		{name: "a block is removed", before: parts(one("a", 1), one("b", 2)), after: parts(one("b", 2))},
		{name: "a block is removed, and comes back", before: parts(one("a", 1)), after: parts(), then: parts(one("a", 1)), want: []string{"1"}},
		{name: "a block is taken out with a `removed` block", before: parts(one("a", 1)), after: parts(forgotten("a")), want: []string{"1"}},
		{name: "`state rm`, and the block stays", before: parts(one("a", 1)), after: parts(one("a", 1)), forget: "a"},
		{name: "a protected block is renamed", before: parts(with("a", 1, protect)), after: parts(with("b", 1, protect))},
		{name: "a protected object gets another name", before: parts(with("a", 1, protect)), after: parts(with("a", 2, protect)), want: []string{"1"},
			refuse: "Protected resource would be replaced"},
		{name: "a block is copied", before: parts(one("a", 1)), after: parts(one("a", 1), one("b", 1)), want: []string{"1"},
			refuse: "Duplicate object"},
		{name: "a rename and a shorter list at once", before: parts(one("a", 1), list(2, 3)), after: parts(one("b", 1), list(3))},
		{name: "the type is another one", alone: true, before: parts(of("lab/id:1", "a", 1)), after: parts(of("lab/box:1", "a", 1)),
			want: []string{"1", "1"}},
		{name: "a new version of the type has another identity", alone: true, before: parts(of("lab/id:1", "a", 1)), after: parts(of("lab/id:2", "a", 1))},
		{name: "the image comes from a mirror", alone: true, before: parts(of("lab/id:1", "a", 1)), after: parts(of("mirror.example/id:1", "a", 1))},
		{name: "the plug leads elsewhere", alone: true, before: parts(plug("world", "w1"), of("lab/file:1", "a", 1)),
			after: parts(plug("world", "w2"), of("lab/file:1", "a", 1)), want: []string{"1", "1"}},
		{name: "the type takes one more plug", alone: true, before: parts(plug("world", "w1"), of("lab/file:1", "a", 1)),
			after: parts(plug("world", "w1"), plug("cache", "w2"), of("lab/file:2", "a", 1))},
		{name: "a block is renamed, whose type declares no identity and knows its objects by their config", alone: true, before: parts(of("lab/cfg:1", "a", 1)),
			after: parts(of("lab/cfg:1", "b", 1))},
		{name: "a block is renamed, whose type declares no identity and knows its objects by their resource", alone: true,
			before: parts(of("lab/name:1", "a", 1)), after: parts(of("lab/name:1", "b", 1)), want: []string{"b"}},
	}
}
