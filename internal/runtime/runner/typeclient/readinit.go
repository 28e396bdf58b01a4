package typeclient

import (
	"path"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// readInit parses an answer to init. The result is the same type for both protocol versions.
func readInit(answer []byte) (protocol.Type, error) {
	f, err := readFields(answer)
	if err != nil {
		return protocol.Type{}, err
	}
	ty := protocol.Type{Protocol: versionOf(f)}
	if *f.first == nil && ty.Protocol == 1 {
		readInitV1(f, &ty)
	} else if *f.first == nil {
		readInitV2(f, &ty)
	}
	if *f.first != nil {
		return protocol.Type{}, *f.first
	}
	return ty, nil
}

// versionOf returns the protocol version of an answer to init: the version that the
// answer names, else the version whose keys it uses.
func versionOf(f *fields) int {
	if !f.has("protocol") {
		if f.has("required_plugs") || f.has("required_resources") || f.has("label") || f.isTransitional() {
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
	f.problem("it speaks protocol %s, and this deployster speaks %d to %d", named, protocol.MinVersion, protocol.MaxVersion)
	return 0
}

// isTransitional reports whether an answer has the form between the protocols 1 and 2:
// protocol 1, with dependencies and plugs that may be optional. In protocol 2
// "dependencies" is never an object.
func (f *fields) isTransitional() bool {
	return f.has("dependencies") && jsondoc.KindOf(f.members["dependencies"]) == "an object"
}

func readInitV1(f *fields, ty *protocol.Type) {
	transitional := f.isTransitional()
	for _, key := range []string{"plugs", "absent", "dependencies", "refresh", "repair", "watch_action", "discover_action",
		"worker", "reuse", "state_schema", "identity",
		"kind", "cache", "memory", "unknowns", "independent"} {
		if f.has(key) && !(transitional && (key == "plugs" || key == "dependencies")) {
			f.problem("the key %q belongs to protocol 2, but by its other keys the answer is of protocol 1; say \"protocol\": 2 to use both "+
				"\"label\" and %q", key, key)
			return
		}
	}
	readCommonInit(f, ty)
	if transitional {
		readTransitional(f, ty)
		f.done()
		return
	}
	if plugs := f.entries("required_plugs"); plugs != nil {
		ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			ty.Plugs[name] = protocol.PlugRequest{ContainerPath: plugs.containerPath(name), Writable: true, AnyMode: true}
		}
		plugs.checkPlugs(ty.Plugs)
	}
	if resources := f.entries("required_resources"); resources != nil {
		ty.RequiredResources = map[string]string{}
		for _, alias := range resources.keys() {
			ty.RequiredResources[alias] = resources.needText(alias)
			resources.checkAlias(alias)
		}
	}
	f.done()
}

// readTransitional reads dependencies and plugs that the answer lists by name, each
// with whether it is optional. Other aliases are not allowed.
func readTransitional(f *fields, ty *protocol.Type) {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if f.has(key) {
			f.problem("%q and an object of \"dependencies\" cannot stand together: both say what is required", key)
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
		deps.checkAlias(alias)
		d.done()
	}
	readPlugs(f, ty)
}

func (f *fields) checkAlias(alias string) {
	if !properName(alias) {
		f.problem("%q has a name that is none for a dependency: at most %d bytes, no control or invisible characters", f.path, maxName)
	}
}

func readInitV2(f *fields, ty *protocol.Type) {
	for _, key := range []string{"required_plugs", "required_resources"} {
		if f.has(key) {
			f.problem("the key %q belongs to protocol 1, but the answer says that it is of protocol 2; the keys for it are \"plugs\" and "+
				"\"dependencies\"", key)
			return
		}
	}
	readCommonInit(f, ty)
	ty.WatchAction = f.otherAction("watch_action", ty.StateAction)
	ty.DiscoverAction = f.otherAction("discover_action", ty.StateAction)
	ty.StateSchema = f.schema("state_schema")
	readIdentity(f, ty)
	for _, e := range f.objects("auto_edges") {
		one := protocol.AutoEdge{Kind: e.needText("kind"), By: e.needText("by"), Parents: e.flag("parents", false)}
		if !properName(one.Kind) || !strings.HasPrefix(one.By, "/") {
			f.problem("%q needs the name of a kind as \"kind\" and a JSON pointer into the config as \"by\", like /path", e.path)
		}
		e.done()
		ty.AutoEdges = append(ty.AutoEdges, one)
	}
	readPlugs(f, ty)
	ty.Absent, ty.ByPerson = f.flag("absent", false), !f.flag("repair", true)
	ty.Dependencies = f.flag("dependencies", false)
	ty.Refresh = f.flag("refresh", false)
	ty.Memory = f.flag("memory", false)
	ty.Unknowns = f.flag("unknowns", false)
	ty.Independent = f.flag("independent", false)
	ty.Reuse = f.flag("reuse", false)
	ty.NoCache = !f.flag("cache", true)
	if w := f.object("worker"); w != nil {
		c := w.command()
		w.done()
		ty.Worker = &c
	}
	f.done()
}

// maxIdentity is how many values may identify a thing together.
const maxIdentity = 8

// readIdentity reads what identifies the things of the type. The pointers are checked
// later, with configs.
func readIdentity(f *fields, ty *protocol.Type) {
	ty.Identity = f.pointers("identity")
	if n := len(ty.Identity); f.has("identity") && (n == 0 || n > maxIdentity) {
		f.problem("\"identity\" has %d entries, and must have 1 to %d: JSON pointers into the config", n, maxIdentity)
	}
	if ty.Kind = f.text("kind"); !properName(ty.Kind) {
		f.problem("\"kind\" is no name for a kind: at most %d bytes, no control or invisible characters", maxName)
	}
}

func readPlugs(f *fields, ty *protocol.Type) {
	if plugs := f.entries("plugs"); plugs != nil {
		ty.Plugs = map[string]protocol.PlugRequest{}
		for _, name := range plugs.keys() {
			p := plugs.object(name)
			if p == nil {
				break
			}
			ty.Plugs[name] = protocol.PlugRequest{ContainerPath: p.containerPath("container_path"), Optional: p.flag("optional", false),
				Writable: p.flag("writable", true)}
			p.done()
		}
		plugs.checkPlugs(ty.Plugs)
	}
}

func readCommonInit(f *fields, ty *protocol.Type) {
	ty.Label = f.text("label")
	ty.ConfigSchema = f.schema("config_schema")
	s := f.object("state_action")
	if s == nil {
		f.problem("\"state_action\" is missing")
		return
	}
	ty.StateAction = s.command()
	if ty.Protocol == 1 { // protocol 1 has an action here, with a name that nothing uses
		s.text("name")
		s.text("description")
	}
	s.done()
	if ty.StateAction.Image == "" && ty.StateAction.Entrypoint == "" && len(ty.StateAction.Args) == 0 {
		f.problem("\"state_action\" must differ from init: give at least one of image, entrypoint, args")
	}
}

// otherAction reads a command of the type that must differ from its state action and
// from init; nil = the type does not have this command.
func (f *fields) otherAction(key string, state protocol.Command) *protocol.Command {
	w := f.object(key)
	if w == nil {
		return nil
	}
	c := w.command()
	w.done()
	same := c.Image == state.Image && c.Entrypoint == state.Entrypoint && slices.Equal(c.Args, state.Args)
	if same || c.Image == "" && c.Entrypoint == "" && len(c.Args) == 0 {
		f.problem("%q must differ from init and from \"state_action\": give at least one of image, entrypoint, args", key)
	}
	return &c
}

// schema returns a member that is a JSON Schema: an object or a boolean.
func (f *fields) schema(key string) []byte {
	if f.has(key) && jsondoc.KindOf(f.members[key]) == "a boolean" {
		return f.members[key]
	}
	return f.document(key)
}

func (f *fields) command() protocol.Command {
	c := protocol.Command{Image: f.text("image"), Entrypoint: f.text("entrypoint"), Args: f.texts("args")}
	if strings.ContainsRune(c.Entrypoint, 0) {
		f.problem("%q holds a zero byte", f.at("entrypoint"))
	}
	return c
}

func (f *fields) containerPath(key string) string {
	p := f.needText(key)
	clean := path.Clean(p)
	if *f.first == nil && (!strings.HasPrefix(p, "/") || clean == "/" || strings.ContainsRune(p, 0)) {
		f.problem("%q is %q, and must be an absolute path in the container, other than /", f.at(key), p)
	}
	for _, kernel := range []string{"/proc", "/sys", "/dev"} {
		if clean == kernel || strings.HasPrefix(clean, kernel+"/") {
			f.problem("%q is %q, and nothing can be mounted below %s, which is the kernel's", f.at(key), p, kernel)
		}
	}
	return clean
}

// checkPlugs checks the names of plugs, and that no two have the same container path.
func (f *fields) checkPlugs(plugs map[string]protocol.PlugRequest) {
	at := map[string]string{}
	for _, name := range f.keys() {
		if !plugName(name) {
			f.problem("%q is no name for a plug: a letter, then letters, digits, _ and -", name)
		}
		p := plugs[name]
		if other, taken := at[p.ContainerPath]; taken {
			f.problem("the plugs %q and %q have the same container path, %s", other, name, p.ContainerPath)
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
