package answers

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// ReadInit parses an answer to init. The result is the same type for both protocol versions.
func ReadInit(answer []byte) (protocol.Type, error) {
	f, err := ReadFields(answer)
	if err != nil {
		return protocol.Type{}, err
	}
	ty := protocol.Type{Protocol: VersionOf(f)}
	if *f.First == nil && ty.Protocol == 1 {
		readInitV1(f, &ty)
	} else if *f.First == nil {
		readInitV2(f, &ty)
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

func readInitV1(f *Fields, ty *protocol.Type) {
	transitional := isTransitional(f)
	for _, key := range []string{"plugs", "plugs_in", "absent", "dependencies", "refresh", "repair", "watch_action", "discover_action",
		"worker", "batch", "guard", "reuse", "state_schema", "identity",
		"kind", "cache", "memory", "unknowns", "independent", "needs", "policy"} {
		if f.has(key) && !(transitional && (key == "plugs" || key == "dependencies")) {
			f.Problem("the key %q belongs to protocol 2, but by its other keys the answer is of protocol 1; set \"protocol\": 2 to "+
				"use both \"label\" and %q", key, key)
			return
		}
	}
	readCommonInit(f, ty)
	if transitional {
		readTransitional(f, ty)
		f.Done()
		return
	}
	if plugs := f.entries("required_plugs"); plugs != nil {
		ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			ty.Plugs[name] = protocol.PlugRequest{ContainerPath: containerPath(plugs, name), Writable: true, AnyMode: true}
		}
		checkPlugs(plugs, ty.Plugs)
	}
	if resources := f.entries("required_resources"); resources != nil {
		ty.RequiredResources = map[string]string{}
		for _, alias := range resources.keys() {
			ty.RequiredResources[alias] = resources.needText(alias)
			checkAlias(alias, resources)
		}
	}
	f.Done()
}

// readTransitional reads dependencies and plugs that the answer lists by name, each
// with whether it is optional. Other aliases are not allowed.
func readTransitional(f *Fields, ty *protocol.Type) {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if f.has(key) {
			f.Problem("%q and an object of \"dependencies\" exclude each other: both list requirements", key)
			return
		}
	}
	ty.OnlyThese = true
	ty.RequiredResources, ty.OptionalResources = map[string]string{}, map[string]string{}
	deps := f.entries("dependencies")
	if deps == nil {
		return
	}
	for _, alias := range deps.keys() {
		d := deps.object(alias)
		if d == nil {
			return
		}
		into := ty.RequiredResources
		if d.flag("optional", false) {
			into = ty.OptionalResources
		}
		into[alias] = d.needText("type")
		checkAlias(alias, deps)
		d.Done()
	}
	readPlugs(f, ty)
}

func checkAlias(alias string, f *Fields) {
	if !properName(alias) {
		f.Problem("%q has a name that is not valid for a dependency: at most %d bytes, no control or invisible characters", f.path, maxName)
	}
}

func readInitV2(f *Fields, ty *protocol.Type) {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if f.has(key) {
			f.Problem("the key %q belongs to protocol 1, but the answer declares protocol 2; the keys for it are \"plugs\" and "+
				"\"dependencies\"", key)
			return
		}
	}
	if f.has("policy") {
		readPolicyInit(f, ty)
		return
	}
	readCommonInit(f, ty)
	ty.WatchAction = otherAction(f, "watch_action", ty.StateAction)
	ty.DiscoverAction = otherAction(f, "discover_action", ty.StateAction)
	ty.StateSchema = schema(f, "state_schema")
	ty.Identity = pointers(f, "identity") // they are checked later, with configs
	if n := len(ty.Identity); f.has("identity") && (n == 0 || n > maxIdentity) {
		f.Problem("\"identity\" has %d entries, and must have 1 to %d: JSON pointers into the config", n, maxIdentity)
	}
	if ty.Kind = f.Text("kind"); !properName(ty.Kind) {
		f.Problem("\"kind\" is not a valid name for a kind: at most %d bytes, no control or invisible characters", maxName)
	}
	for _, e := range f.objects("auto_edges") {
		one := protocol.AutoEdge{Kind: e.needText("kind"), By: e.needText("by"), Parents: e.flag("parents", false)}
		if !properName(one.Kind) || !strings.HasPrefix(one.By, "/") {
			f.Problem("%q needs the name of a kind as \"kind\" and a JSON pointer into the config as \"by\", like /path", e.path)
		}
		e.Done()
		ty.AutoEdges = append(ty.AutoEdges, one)
	}
	readPlugs(f, ty)
	if ty.PlugsIn = pointers(f, "plugs_in"); len(ty.PlugsIn) > maxPlugsIn {
		f.Problem("\"plugs_in\" has %d entries, and must have at most %d", len(ty.PlugsIn), maxPlugsIn)
	}
	ty.Absent, ty.ByPerson = f.flag("absent", false), !f.flag("repair", true)
	ty.Dependencies = f.flag("dependencies", false)
	ty.Refresh = f.flag("refresh", false)
	ty.Memory = f.flag("memory", false)
	ty.Unknowns = f.flag("unknowns", false)
	ty.Independent = f.flag("independent", false)
	ty.Reuse = f.flag("reuse", false)
	ty.NoCache, ty.Needs = !f.flag("cache", true), f.texts("needs")
	if w := f.object("worker"); w != nil {
		c := command(w)
		w.Done()
		ty.Worker = &c
	}
	readBatch(f, ty)
	readGuard(ty, f)
	f.Done()
}

// maxPlugsIn is how many values of a config may name plugs.
const maxPlugsIn = 8

// maxBatch is the limit of "max" in "batch".
const maxBatch = 1000

// readBatch reads which actions the worker carries out together.
func readBatch(f *Fields, ty *protocol.Type) {
	b := f.object("batch")
	if b == nil {
		return
	}
	ty.Batch = &protocol.Batch{Actions: b.texts("actions"), Max: protocol.DefaultBatch}
	raw := b.get("max", "a number")
	if raw != nil && (json.Unmarshal(raw, &ty.Batch.Max) != nil || ty.Batch.Max < 2 || ty.Batch.Max > maxBatch) {
		f.Problem("\"batch.max\" is %s, and must be a whole number from 2 to %d", raw, maxBatch)
	}
	b.Done()
	switch {
	case len(ty.Batch.Actions) == 0 || slices.Contains(ty.Batch.Actions, ""):
		f.Problem("\"batch\" needs the names of actions as \"actions\", like [\"install\", \"remove\"]")
	case ty.Worker == nil:
		f.Problem("\"batch\" needs a \"worker\": only a worker gets many requests in one")
	}
}

// maxIdentity is how many values may identify an object together.
const maxIdentity = 8

func readPlugs(f *Fields, ty *protocol.Type) {
	if plugs := f.entries("plugs"); plugs != nil {
		ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			p := plugs.object(name)
			if p == nil {
				break
			}
			ty.Plugs[name] = protocol.PlugRequest{ContainerPath: containerPath(p, "container_path"), Optional: p.flag("optional", false),
				Writable: p.flag("writable", true)}
			p.Done()
		}
		checkPlugs(plugs, ty.Plugs)
	}
}

func readCommonInit(f *Fields, ty *protocol.Type) {
	ty.Label = f.Text("label")
	ty.ConfigSchema = schema(f, "config_schema")
	s := f.object("state_action")
	if readNotify(f, ty, s != nil) {
		return
	}
	if s == nil {
		f.Problem("\"state_action\" is missing")
		return
	}
	ty.StateAction = command(s)
	if ty.Protocol == 1 { // protocol 1 has an action here, with a name that nothing uses
		s.Text("name")
		s.Text("description")
	}
	s.Done()
	if ty.StateAction.Image == "" && ty.StateAction.Entrypoint == "" && len(ty.StateAction.Args) == 0 {
		f.Problem("\"state_action\" must differ from init: give at least one of image, entrypoint, args")
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
		f.Problem("%q holds a zero byte", f.at("entrypoint"))
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
