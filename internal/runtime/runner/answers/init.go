package answers

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// initAnswer is an answer to init while it is read, and what is known of its type so far.
type initAnswer struct {
	*Fields
	ty *protocol.Type
}

// ReadInit parses an answer to init. The result is the same type for both protocol versions.
func ReadInit(answer []byte) (protocol.Type, error) {
	f, err := ReadFields(answer)
	if err != nil {
		return protocol.Type{}, err
	}
	ty := protocol.Type{Protocol: VersionOf(f)}
	if *f.First == nil && ty.Protocol == 1 {
		initAnswer{f, &ty}.versionOne()
	} else if *f.First == nil {
		initAnswer{f, &ty}.versionTwo()
	}
	if *f.First != nil {
		return protocol.Type{}, *f.First
	}
	return ty, nil
}

// VersionOf returns the protocol version of an answer to init: the version that the
// answer names, else the version whose keys it uses.
func VersionOf(f *Fields) int {
	if !f.has("protocol") {
		if f.has("required_plugs") || f.has("required_resources") || f.has("label") || isTransitional(f) {
			return 1
		}
		return 2
	}
	named := string(f.get("protocol", "a number"))
	switch named {
	case "1":
		return 1
	case "2":
		return 2
	}
	f.Problem("it uses protocol %s, and this deployster supports %d to %d", named, protocol.MinVersion, protocol.MaxVersion)
	return 0
}

// isTransitional reports whether an answer has the form between the protocols 1 and 2:
// protocol 1, with dependencies and plugs that may be optional. In protocol 2
// "dependencies" is never an object.
func isTransitional(f *Fields) bool {
	return f.has("dependencies") && jsondoc.KindOf(f.members["dependencies"]) == "an object"
}

func (a initAnswer) versionOne() {
	transitional := isTransitional(a.Fields)
	for _, key := range []string{"plugs", "plugs_in", "absent", "dependencies", "refresh", "repair", "watch_action", "discover_action",
		"validate_action", "worker", "batch", "guard", "actions", "operations", "reuse", "reuse_actions", "state_schema", "identity",
		"kind", "cache", "memory", "unknowns", "independent", "needs", "policy", "secret"} {
		if a.has(key) && !(transitional && (key == "plugs" || key == "dependencies")) {
			a.Problem("the key %q belongs to protocol 2, but by its other keys the answer is of protocol 1; set \"protocol\": 2 to "+
				"use both \"label\" and %q", key, key)
			return
		}
	}
	a.common()
	if transitional {
		a.transitional()
		a.Done()
		return
	}
	if plugs := a.entries("required_plugs"); plugs != nil {
		a.ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			a.ty.Plugs[name] = protocol.PlugRequest{ContainerPath: containerPath(plugs, name), Writable: true, AnyMode: true}
		}
		checkPlugs(plugs, a.ty.Plugs)
	}
	if resources := a.entries("required_resources"); resources != nil {
		a.ty.RequiredResources = map[string]string{}
		for _, alias := range resources.keys() {
			a.ty.RequiredResources[alias] = resources.needText(alias)
			checkAlias(resources, alias)
		}
	}
	a.Done()
}

// transitional reads dependencies and plugs that the answer lists by name, each
// with whether it is optional. Other aliases are not allowed.
func (a initAnswer) transitional() {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if a.has(key) {
			a.Problem("%q and an object of \"dependencies\" exclude each other: both list requirements", key)
			return
		}
	}
	a.ty.OnlyThese = true
	a.ty.RequiredResources, a.ty.OptionalResources = map[string]string{}, map[string]string{}
	deps := a.entries("dependencies")
	if deps == nil {
		return
	}
	for _, alias := range deps.keys() {
		d := deps.object(alias)
		if d == nil {
			return
		}
		into := a.ty.RequiredResources
		if d.flag("optional", false) {
			into = a.ty.OptionalResources
		}
		into[alias] = d.needText("type")
		checkAlias(deps, alias)
		d.Done()
	}
	a.plugs()
}

func checkAlias(f *Fields, alias string) {
	if !properName(alias) {
		f.Problem("%q has a name that is not valid for a dependency: at most %d bytes, no control or invisible characters", f.path, maxName)
	}
}

func (a initAnswer) versionTwo() {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if a.has(key) {
			a.Problem("the key %q belongs to protocol 1, but the answer declares protocol 2; the keys for it are \"plugs\" and "+
				"\"dependencies\"", key)
			return
		}
	}
	if a.has("policy") {
		a.policy()
		return
	}
	if a.has("secret") {
		a.secret()
		return
	}
	a.common()
	a.ty.WatchAction = otherAction(a.Fields, "watch_action", a.ty.StateAction)
	a.ty.DiscoverAction = otherAction(a.Fields, "discover_action", a.ty.StateAction)
	a.ty.ValidateAction = otherAction(a.Fields, "validate_action", a.ty.StateAction)
	a.ty.StateSchema = schema(a.Fields, "state_schema")
	a.ty.Identity = pointers(a.Fields, "identity") // they are checked later, with configs
	if n := len(a.ty.Identity); a.has("identity") && (n == 0 || n > maxIdentity) {
		a.Problem("\"identity\" has %d entries, and must have 1 to %d: JSON pointers into the config", n, maxIdentity)
	}
	if a.ty.Kind = a.Text("kind"); !properName(a.ty.Kind) {
		a.Problem("\"kind\" is not a valid name for a kind: at most %d bytes, no control or invisible characters", maxName)
	}
	for _, e := range a.objects("auto_edges") {
		one := protocol.AutoEdge{Kind: e.needText("kind"), By: e.needText("by"), Parents: e.flag("parents", false)}
		if !properName(one.Kind) || !strings.HasPrefix(one.By, "/") {
			a.Problem("%q needs the name of a kind as \"kind\" and a JSON pointer into the config as \"by\", like /path", e.path)
		}
		e.Done()
		a.ty.AutoEdges = append(a.ty.AutoEdges, one)
	}
	a.plugs()
	if a.ty.PlugsIn = pointers(a.Fields, "plugs_in"); len(a.ty.PlugsIn) > maxPlugsIn {
		a.Problem("\"plugs_in\" has %d entries, and must have at most %d", len(a.ty.PlugsIn), maxPlugsIn)
	}
	a.ty.Absent, a.ty.ByPerson = a.flag("absent", false), !a.flag("repair", true)
	a.ty.Dependencies = a.flag("dependencies", false)
	a.ty.Refresh = a.flag("refresh", false)
	a.ty.Memory = a.flag("memory", false)
	a.ty.Unknowns = a.flag("unknowns", false)
	a.ty.Independent = a.flag("independent", false)
	a.ty.Reuse, a.ty.ReuseActions = a.flag("reuse", false), a.flag("reuse_actions", false)
	if a.ty.ReuseActions && !a.ty.Reuse {
		a.Problem("\"reuse_actions\" needs \"reuse\": true: actions share the containers of queries")
	}
	a.ty.NoCache, a.ty.Needs = !a.flag("cache", true), a.texts("needs")
	if w := a.object("worker"); w != nil {
		c := command(w)
		w.Done()
		a.ty.Worker = &c
	}
	a.batch()
	a.guard()
	a.abilities()
	a.Done()
}

// maxPlugsIn is how many values of a config may name plugs.
const maxPlugsIn = 8

// maxBatch is the limit of "max" in "batch".
const maxBatch = 1000

// batch reads which actions the worker carries out together.
func (a initAnswer) batch() {
	b := a.object("batch")
	if b == nil {
		return
	}
	a.ty.Batch = &protocol.Batch{Actions: b.texts("actions"), Max: protocol.DefaultBatch}
	raw := b.get("max", "a number")
	if raw != nil && (json.Unmarshal(raw, &a.ty.Batch.Max) != nil || a.ty.Batch.Max < 2 || a.ty.Batch.Max > maxBatch) {
		a.Problem("\"batch.max\" is %s, and must be a whole number from 2 to %d", raw, maxBatch)
	}
	b.Done()
	switch {
	case len(a.ty.Batch.Actions) == 0 || slices.Contains(a.ty.Batch.Actions, ""):
		a.Problem("\"batch\" needs the names of actions as \"actions\", like [\"install\", \"remove\"]")
	case a.ty.Worker == nil:
		a.Problem("\"batch\" needs a \"worker\": only a worker gets many requests in one")
	}
}

// maxIdentity is how many values may identify an object together.
const maxIdentity = 8

func (a initAnswer) plugs() {
	if plugs := a.entries("plugs"); plugs != nil {
		a.ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			p := plugs.object(name)
			if p == nil {
				break
			}
			a.ty.Plugs[name] = protocol.PlugRequest{ContainerPath: containerPath(p, "container_path"), Optional: p.flag("optional", false),
				Writable: p.flag("writable", true)}
			p.Done()
		}
		checkPlugs(plugs, a.ty.Plugs)
	}
}

func (a initAnswer) common() {
	a.ty.Label = a.Text("label")
	a.ty.ConfigSchema = schema(a.Fields, "config_schema")
	s := a.object("state_action")
	if a.notify(s != nil) {
		return
	}
	if s == nil {
		a.Problem("\"state_action\" is missing")
		return
	}
	a.ty.StateAction = command(s)
	if a.ty.Protocol == 1 { // protocol 1 has an action here, with a name that nothing uses
		s.Text("name")
		s.Text("description")
	}
	s.Done()
	if a.ty.StateAction.Image == "" && a.ty.StateAction.Entrypoint == "" && len(a.ty.StateAction.Args) == 0 {
		a.Problem("\"state_action\" must differ from init: give at least one of image, entrypoint, args")
	}
}

// otherAction reads a command of the type that must differ from its state action and
// from init; nil = the type does not have this command.
func otherAction(f *Fields, key string, state protocol.Command) *protocol.Command {
	w := f.object(key)
	if w == nil {
		return nil
	}
	c := command(w)
	w.Done()
	same := c.Image == state.Image && c.Entrypoint == state.Entrypoint && slices.Equal(c.Args, state.Args)
	if same || c.Image == "" && c.Entrypoint == "" && len(c.Args) == 0 {
		f.Problem("%q must differ from init and from \"state_action\": give at least one of image, entrypoint, args", key)
	}
	return &c
}

// schema returns a member that is a JSON Schema: an object or a boolean.
func schema(f *Fields, key string) []byte {
	if f.has(key) && jsondoc.KindOf(f.members[key]) == "a boolean" {
		return f.members[key]
	}
	return f.Document(key)
}

func command(f *Fields) protocol.Command {
	c := protocol.Command{Image: f.Text("image"), Entrypoint: f.Text("entrypoint"), Args: f.texts("args")}
	if strings.ContainsRune(c.Entrypoint, 0) {
		f.Problem("%q contains a null byte", f.at("entrypoint"))
	}
	return c
}

func containerPath(f *Fields, key string) string {
	p := f.needText(key)
	clean := path.Clean(p)
	if *f.First == nil && (!strings.HasPrefix(p, "/") || clean == "/" || strings.ContainsRune(p, 0)) {
		f.Problem("%q is %q, and must be an absolute path in the container, other than /", f.at(key), p)
	}
	for _, kernel := range []string{"/proc", "/sys", "/dev"} {
		if clean == kernel || strings.HasPrefix(clean, kernel+"/") {
			f.Problem("%q is %q, and nothing can be mounted below %s, which is the kernel's", f.at(key), p, kernel)
		}
	}
	return clean
}

// checkPlugs checks the names of plugs, and that no two have the same container path.
func checkPlugs(f *Fields, plugs map[string]protocol.PlugRequest) {
	at := map[string]string{}
	for _, name := range f.keys() {
		if !plugName(name) {
			f.Problem("%q is not a valid name for a plug: a letter, then letters, digits, _ and -", name)
		}
		p := plugs[name]
		if other, taken := at[p.ContainerPath]; taken {
			f.Problem("the plugs %q and %q have the same container path, %s", other, name, p.ContainerPath)
		}
		at[p.ContainerPath] = name
	}
}

func plugName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '_' && r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}
