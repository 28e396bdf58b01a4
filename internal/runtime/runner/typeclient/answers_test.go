package typeclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// published checks a message against one of the schemas in docs/schemas.
func published(t *testing.T, name string, message []byte) []typeschema.Violation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "schemas", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := jsondoc.Check(message); err != nil {
		return []typeschema.Violation{{Message: err.Error()}}
	}
	return new(typeschema.Checker).CheckState(protocol.Type{Reference: name, StateSchema: text}, message)
}

// answer is one thing that an image may say. An empty problem means that it is
// right and comes out as want; else the problem must be in the message.
// Schema reports whether the published schema must agree that it is wrong; what
// is beyond a schema (two documents, two plugs on one path) it cannot see.
type answer struct {
	name, says, want, problem string
	beyondSchema              bool
}

// numbered repeats a text with numbers in it, separated by commas.
func numbered(n int, format string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(format, i))
	}
	return strings.Join(list, ",")
}

func inits() []answer {
	const sa = `"state_action":{"args":["state"]}`
	return []answer{
		{name: "minimal", says: `{` + sa + `}`, want: `{"protocol":2,"state_action":{"args":["state"]}}`},
		{name: "space around", says: " \n{" + sa + "}\n\n", want: `{"protocol":2,"state_action":{"args":["state"]}}`},
		{name: "everything in 2", says: `{"protocol":2,"label":"Disk","config_schema":{"type":"object"},"state_schema":{"type":"object"},"plugs":{"sa":{"container_path":"/sa.json","optional":true,"writable":false}},"state_action":{"image":"a/b","entrypoint":"/e","args":["state"]},"absent":true,"dependencies":true,"worker":{"args":["worker"]},"reuse":true,"reuse_actions":true,"cache":false,"repair":false}`,
			want: `{"protocol":2,"label":"Disk","config_schema":{"type":"object"},"state_schema":{"type":"object"},"plugs":{"sa":{"container_path":"/sa.json","optional":true,"writable":false}},"state_action":{"image":"a/b","entrypoint":"/e","args":["state"]},"absent":true,"dependencies":true,"by_person":true,"worker":{"args":["worker"]},"reuse":true,"reuse_actions":true,"no_cache":true}`},
		{name: "watched", says: `{"watch_action":{"args":["watch"]},` + sa + `}`, want: `{"protocol":2,"state_action":{"args":["state"]},"watch_action":{"args":["watch"]}}`},
		{name: "watched by its state", says: `{"watch_action":{"args":["state"]},` + sa + `}`, problem: `"watch_action" must differ`, beyondSchema: true},
		{name: "watched by init", says: `{"watch_action":{},` + sa + `}`, problem: `"watch_action" must differ`, beyondSchema: true},
		{name: "watched in protocol 1", says: `{"protocol":1,"watch_action":{"args":["watch"]},` + sa + `}`, problem: `"watch_action" belongs to protocol 2`, beyondSchema: true},
		{name: "watched by a typing error", says: `{"watch_action":{"arg":["watch"]},` + sa + `}`, problem: `"watch_action.arg" is not known`},
		{name: "actions that share alone", says: `{"reuse_actions":true,` + sa + `}`, problem: `"reuse_actions" needs "reuse": true`, beyondSchema: true},
		{name: "lists what exists", says: `{"discover_action":{"args":["discover"]},` + sa + `}`, want: `{"protocol":2,"state_action":{"args":["state"]},"discover_action":{"args":["discover"]}}`},
		{name: "lists by its state", says: `{"discover_action":{"args":["state"]},` + sa + `}`, problem: `"discover_action" must differ`, beyondSchema: true},
		{name: "lists in protocol 1", says: `{"protocol":1,"discover_action":{"args":["discover"]},` + sa + `}`, problem: `"discover_action" belongs to protocol 2`, beyondSchema: true},
		{name: "identity", says: `{"identity":["/path","/a~1b/0"],"kind":"file",` + sa + `}`, want: `{"protocol":2,"identity":["/path","/a~1b/0"],"kind":"file","state_action":{"args":["state"]}}`},
		{name: "identity of nothing", says: `{"identity":[],` + sa + `}`, problem: `"identity" has 0 entries, and must have 1 to 8`},
		{name: "identity of too much", says: `{"identity":[` + numbered(9, `"/p%d"`) + `],` + sa + `}`, problem: `"identity" has 9 entries`},
		{name: "identity that is no pointer", says: `{"identity":["path"],` + sa + `}`, problem: `"identity[0]" is "path", and must be a JSON pointer`},
		{name: "identity with a bad escape", says: `{"identity":["/a~2"],` + sa + `}`, problem: "must be a JSON pointer"},
		{name: "identity of the whole config", says: `{"identity":[""],` + sa + `}`, problem: "must be a JSON pointer"},
		{name: "identity said twice", says: `{"identity":["/a","/a"],` + sa + `}`, problem: `"identity" names "/a" twice`},
		{name: "identity a string", says: `{"identity":"/a",` + sa + `}`, problem: `"identity" is a string, and must be a list`},
		{name: "plugs in the config", says: `{"plugs_in":["/source"],` + sa + `}`, want: `{"protocol":2,"plugs_in":["/source"],"state_action":{"args":["state"]}}`},
		{name: "plugs in the whole config", says: `{"plugs_in":[""],` + sa + `}`, problem: `"plugs_in[0]" is "", and must be a JSON pointer`},
		{name: "too many plugs in the config", says: `{"plugs_in":[` + numbered(9, `"/p%d"`) + `],` + sa + `}`, problem: `"plugs_in" has 9 entries`},
		{name: "plugs in the config in 1", says: `{"protocol":1,"plugs_in":["/a"],` + sa + `}`, problem: `"plugs_in" belongs to protocol 2`},
		{name: "identity in 1", says: `{"protocol":1,"identity":["/a"],` + sa + `}`, problem: `"identity" belongs to protocol 2`},
		{name: "kind in 1", says: `{"protocol":1,"kind":"file",` + sa + `}`, problem: `"kind" belongs to protocol 2`},
		{name: "empty kind", says: `{"kind":"",` + sa + `}`, problem: `"kind" is empty`},
		{name: "kind with a new line", says: `{"kind":"a\nb",` + sa + `}`, problem: "not a valid name for a kind", beyondSchema: true},
		{name: "long kind", says: `{"kind":"` + strings.Repeat("k", 129) + `",` + sa + `}`, problem: "not a valid name for a kind"},
		{name: "writable by default in 2", says: `{"plugs":{"a":{"container_path":"/a/"}},` + sa + `}`, want: `{"protocol":2,"plugs":{"a":{"container_path":"/a","optional":false,"writable":true}},"state_action":{"args":["state"]}}`},
		{name: "label alone is 1", says: `{"label":"x",` + sa + `}`, want: `{"protocol":1,"label":"x","state_action":{"args":["state"]}}`},
		{name: "1 by its number", says: `{"protocol":1,` + sa + `}`, want: `{"protocol":1,"state_action":{"args":["state"]}}`},
		{name: "everything in 1", says: `{"label":"x","config_schema":true,"required_plugs":{"gcp":"/sa.json"},"required_resources":{"disk":"acme/disk"},"state_action":{"entrypoint":"/s"}}`,
			want: `{"protocol":1,"label":"x","config_schema":true,"plugs":{"gcp":{"container_path":"/sa.json","optional":false,"writable":true,"any_mode":true}},"required_resources":{"disk":"acme/disk"},"state_action":{"entrypoint":"/s"}}`},

		{name: "between 1 and 2", says: `{"label":"x","dependencies":{"net":{"type":"acme/net"},"dns":{"type":"acme/dns","optional":true}},"plugs":{"sa":{"container_path":"/sa","optional":true}},` + sa + `}`,
			want: `{"protocol":1,"label":"x","plugs":{"sa":{"container_path":"/sa","optional":true,"writable":true}},"required_resources":{"net":"acme/net"},"optional_resources":{"dns":"acme/dns"},"only_these":true,"state_action":{"args":["state"]}}`},
		{name: "between, with none", says: `{"dependencies":{},` + sa + `}`, want: `{"protocol":1,"only_these":true,"state_action":{"args":["state"]}}`},
		{name: "between, without a type", says: `{"dependencies":{"net":{}},` + sa + `}`, problem: `"dependencies.net.type" is missing`},
		{name: "between, with an unknown key", says: `{"dependencies":{"net":{"type":"a","kind":"b"}},` + sa + `}`, problem: `"dependencies.net.kind" is not known`},
		{name: "between, with text", says: `{"dependencies":{"net":"acme/net"},` + sa + `}`, problem: `"dependencies.net" is a string`},
		{name: "between and 1", says: `{"dependencies":{},"required_resources":{"a":"b"},` + sa + `}`, problem: "exclude each other"},
		{name: "between and 2", says: `{"dependencies":{},"absent":true,` + sa + `}`, problem: `"absent" belongs to protocol 2`},
		{name: "dependencies in 2", says: `{"protocol":2,"dependencies":{},` + sa + `}`, problem: `"dependencies" is an object, and must be a boolean`},
		{name: "plugs in 1", says: `{"protocol":1,"plugs":{},` + sa + `}`, problem: `"plugs" belongs to protocol 2`},
		{name: "plug over the kernel's", says: `{"plugs":{"a":{"container_path":"/proc/sys"}},` + sa + `}`, problem: "which is the kernel's"},
		{name: "plug over dev", says: `{"protocol":1,"required_plugs":{"a":"//dev"},` + sa + `}`, problem: "which is the kernel's"},
		{name: "plug beside proc", says: `{"plugs":{"a":{"container_path":"/process"}},` + sa + `}`, want: `{"protocol":2,"plugs":{"a":{"container_path":"/process","optional":false,"writable":true}},"state_action":{"args":["state"]}}`},
		{name: "too many plugs", says: `{"plugs":{` + numbered(1001, `"p%d":{"container_path":"/p%[1]d"}`) + `},` + sa + `}`, problem: "at most 1000"},

		{name: "nothing", says: ``, problem: "not JSON", beyondSchema: true},
		{name: "blank", says: " \n ", problem: "not JSON", beyondSchema: true},
		{name: "garbage", says: `hello`, problem: "not JSON", beyondSchema: true},
		{name: "torn", says: `{"state_action":{"args":["st`, problem: "ends too early", beyondSchema: true},
		{name: "two values", says: `{` + sa + `}{` + sa + `}`, problem: "more than one JSON value", beyondSchema: true},
		{name: "log after it", says: `{` + sa + "}\ndone.", problem: "something follows", beyondSchema: true},
		{name: "log before it", says: "starting\n{" + sa + "}", problem: "not JSON", beyondSchema: true},
		{name: "a list", says: `[{` + sa + `}]`, problem: "a list, and must be an object"},
		{name: "null", says: `null`, problem: "null, and must be an object"},
		{name: "a string", says: `"x"`, problem: "a string, and must be an object"},
		{name: "no state_action", says: `{}`, problem: `"state_action" is missing`},
		{name: "state_action like init", says: `{"state_action":{}}`, problem: "must differ from init"},
		{name: "state_action of empty args", says: `{"state_action":{"args":[]}}`, problem: "must differ from init"},
		{name: "state_action a string", says: `{"state_action":"state"}`, problem: `"state_action" is a string, and must be an object`},
		{name: "args of numbers", says: `{"state_action":{"args":[1]}}`, problem: `"state_action.args[0]" is a number`},
		{name: "args a string", says: `{"state_action":{"args":"state"}}`, problem: `"state_action.args" is a string, and must be a list`},
		{name: "empty entrypoint", says: `{"state_action":{"entrypoint":""}}`, problem: `"state_action.entrypoint" is empty`},
		{name: "zero byte", says: `{"state_action":{"args":["a\u0000b"]}}`, problem: "zero byte", beyondSchema: true},
		{name: "unknown key", says: `{"stateaction":{},` + sa + `}`, problem: `"stateaction" is not known`},
		{name: "wrong case", says: `{"Absent":true,` + sa + `}`, problem: `"Absent" is not known`},
		{name: "unknown key inside", says: `{"state_action":{"arg":["state"],"args":["x"]}}`, problem: `"state_action.arg" is not known`},
		{name: "duplicate key", says: `{` + sa + `,` + sa + `}`, problem: `"state_action" is given twice`, beyondSchema: true},
		{name: "duplicate key deep in a schema", says: `{"config_schema":{"properties":{"a":{"type":"string","type":"number"}}},` + sa + `}`, problem: `"type" is given twice (config_schema.properties.a`, beyondSchema: true},
		{name: "null flag", says: `{"absent":null,` + sa + `}`, problem: `"absent" is null, and must be a boolean`},
		{name: "flag as string", says: `{"absent":"true",` + sa + `}`, problem: `"absent" is a string`},
		{name: "protocol 3", says: `{"protocol":3,` + sa + `}`, problem: "it uses protocol 3, and this deployster supports 1 to 2"},
		{name: "protocol 0", says: `{"protocol":0,` + sa + `}`, problem: "it uses protocol 0"},
		{name: "protocol a string", says: `{"protocol":"2",` + sa + `}`, problem: `"protocol" is a string`},
		{name: "protocol as the input", says: `{"protocol":{"min":1,"max":2},` + sa + `}`, problem: `"protocol" is an object`},
		{name: "label and plugs without protocol", says: `{"label":"x","plugs":{},` + sa + `}`, problem: `set "protocol": 2`},
		{name: "1 with a key of 2", says: `{"protocol":1,"absent":true,` + sa + `}`, problem: `"absent" belongs to protocol 2`},
		{name: "2 with a key of 1", says: `{"protocol":2,"required_plugs":{},` + sa + `}`, problem: `"required_plugs" belongs to protocol 1`},
		{name: "alias with a turned direction", says: `{"protocol":1,"required_resources":{"a\u202eb":"acme/disk"},` + sa + `}`, problem: "not valid for a dependency", beyondSchema: true},
		{name: "plug name", says: `{"plugs":{"1a":{"container_path":"/a"}},` + sa + `}`, problem: "not a valid name for a plug"},
		{name: "plug without path", says: `{"plugs":{"a":{}},` + sa + `}`, problem: `"plugs.a.container_path" is missing`},
		{name: "relative plug", says: `{"plugs":{"a":{"container_path":"a"}},` + sa + `}`, problem: "must be an absolute path"},
		{name: "plug on the root", says: `{"plugs":{"a":{"container_path":"/.."}},` + sa + `}`, problem: "must be an absolute path", beyondSchema: true},
		{name: "two plugs on one path", says: `{"plugs":{"a":{"container_path":"/x"},"b":{"container_path":"/y/../x"}},` + sa + `}`, problem: `"a" and "b" have the same container path`, beyondSchema: true},
		{name: "unknown plug key", says: `{"plugs":{"a":{"container_path":"/x","mode":"rw"}},` + sa + `}`, problem: `"plugs.a.mode" is not known`},
		{name: "schema a string", says: `{"config_schema":"object",` + sa + `}`, problem: `"config_schema" is a string`},
		{name: "schema bad", says: `{"config_schema":{"type":"objekt"},` + sa + `}`, problem: `"config_schema" is not a usable JSON Schema`, beyondSchema: true},
		{name: "schema dangling", says: `{"config_schema":{"$ref":"#/definitions/none"},` + sa + `}`, problem: "not a usable JSON " +
			"Schema", beyondSchema: true},
		{name: "schema from the net", says: `{"config_schema":{"$ref":"http://localhost/x.json"},` + sa + `}`, problem: "nothing outside the schema itself may be read", beyondSchema: true},
		{name: "schema from a file", says: `{"state_schema":{"$ref":"file:///etc/passwd"},` + sa + `}`, problem: "nothing outside the schema itself may be read", beyondSchema: true},
		{name: "schema bad pattern", says: `{"config_schema":{"pattern":"("},` + sa + `}`, problem: "not a usable JSON Schema", beyondSchema: true},
		{name: "schema with another draft", says: `{"config_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[true]},` + sa + `}`, want: `{"protocol":2,"config_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[true]},"state_action":{"args":["state"]}}`},
		{name: "schema with a made-up keyword", says: `{"config_schema":{"x-k8s":{"a":1}},` + sa + `}`, want: `{"protocol":2,"config_schema":{"x-k8s":{"a":1}},"state_action":{"args":["state"]}}`},
		{name: "invalid UTF-8", says: "{\"label\":\"\xff\"," + sa + `}`, problem: "invalid UTF-8", beyondSchema: true},
		{name: "half a surrogate", says: `{"label":"\ud800",` + sa + `}`, problem: "surrogate", beyondSchema: true},
		{name: "too deep", says: `{"config_schema":` + strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70) + `,` + sa + `}`, problem: "nested deeper", beyondSchema: true},
		{name: "endless depth", says: strings.Repeat(`[`, 5_000_000), problem: "nested deeper", beyondSchema: true},
	}
}

func stateAnswers() map[string][]answer {
	const acts = `"actions":[{"name":"make","args":["make"]}]`
	const actsOut = `"actions":[{"name":"make","args":["make"]}]`
	twos := []answer{
		{name: "valid", says: `{"status":"VALID","state":{"b":1,"a":9007199254740993}}`, want: `{"status":"VALID","state":{"a":9007199254740993,"b":1}}`},
		{name: "valid with odd numbers", says: `{"status":"VALID","state":{"x":1.10,"y":1e3,"z":-0}}`, want: `{"status":"VALID","state":{"x":1.10,"y":1e3,"z":-0}}`},
		{name: "valid with wrong case inside", says: `{"status":"VALID","state":{"A":1,"a":2,"Unknown":null}}`, want: `{"status":"VALID","state":{"A":1,"Unknown":null,"a":2}}`},
		{name: "does not exist", says: `{"status":"STALE",` + acts + `}`, want: `{"status":"MISSING",` + actsOut + `}`},
		{name: "differs", says: `{"status":"STALE","staleState":{},` + acts + `}`, want: `{"status":"STALE","stale_state":{},` + actsOut + `}`},
		{name: "all of stale", says: `{"status":"STALE","staleState":{"v":1},"actions":[{"name":"up","description":"Upgrade","image":"i","entrypoint":"/e","args":["a",""]}],"shutdown_first":{"name":"stop"},"reasons":[{"path":"/size","have":1,"want":[2],"message":"m"},{"path":"","have":null}],"forecast":{"v":2},"unknown":["/id","/a/0"]}`,
			want: `{"status":"STALE","stale_state":{"v":1},"actions":[{"name":"up","description":"Upgrade","image":"i","entrypoint":"/e","args":["a",""]}],"shutdown_first":{"name":"stop"},"reasons":[{"path":"/size","have":1,"want":[2],"message":"m"},{"have":null}],"forecast":{"v":2},"unknown":["/id","/a/0"]}`},
		{name: "valid with a memory", says: `{"status":"VALID","state":{},"memory":{"b":1,"a":1.10}}`, want: `{"status":"VALID","state":{},"memory":{"a":1.10,"b":1}}`},
		{name: "valid with no memory", says: `{"status":"VALID","state":{},"memory":null}`, problem: `"memory" is null`},
		{name: "stale with a memory", says: `{"status":"STALE","memory":"x",` + acts + `}`, want: `{"status":"MISSING",` + actsOut + `,"memory":"x"}`},
		{name: "unsettled", says: `{"error":{"class":"unsettled","message":"m"}}`, want: `unsettled  m`},
		{name: "error", says: `{"error":{"class":"config","message":"no such zone","path":"/zone"}}`, want: `config /zone no such zone`},
		{name: "error denied", says: `{"error":{"class":"denied","message":"m"}}`, want: `denied  m`},

		{name: "destructive", says: `{"status":"STALE","staleState":{},"actions":[{"name":"format","destructive":true},{"name":"mount","destructive":false}]}`,
			want: `{"status":"STALE","stale_state":{},"actions":[{"name":"format","destructive":true},{"name":"mount"}]}`},
		{name: "destructive in words", says: `{"status":"STALE","staleState":{},"actions":[{"name":"format","destructive":"yes"}]}`, problem: `"actions[0].destructive" is a string`},
		{name: "too many actions", says: `{"status":"STALE","actions":[` + numbered(1001, `{"name":"a%d"}`) + `]}`, problem: `"actions" has 1001 entries`},
		{name: "missing in 2", says: `{"status":"MISSING",` + acts + `}`, problem: `STALE without "staleState"`},
		{name: "valid with actions", says: `{"status":"VALID","state":{},` + acts + `}`, problem: `VALID with the key "actions"`},
		{name: "valid with no actions", says: `{"status":"VALID","state":{},"actions":[]}`, problem: `VALID with the key "actions"`},
		{name: "valid without state", says: `{"status":"VALID"}`, problem: `VALID without "state"`},
		{name: "valid with null state", says: `{"status":"VALID","state":null}`, problem: `"state" is null`},
		{name: "valid with a list", says: `{"status":"VALID","state":[]}`, problem: `"state" is a list`},
		{name: "valid with stale state", says: `{"status":"VALID","state":{},"staleState":{}}`, problem: `"staleState" is not known`},
		{name: "valid with properties", says: `{"status":"VALID","properties":{}}`, problem: `VALID without "state"`},
		{name: "valid with forecast", says: `{"status":"VALID","state":{},"forecast":{}}`, problem: `"forecast" is not known`},
		{name: "valid with unknown", says: `{"status":"VALID","state":{},"unknown":[]}`, problem: `"unknown" is not known`},
		{name: "unknown that is no pointer", says: `{"status":"STALE",` + acts + `,"unknown":["id"]}`, problem: `"unknown[0]" is "id", and must be a JSON pointer`},
		{name: "too much unknown", says: `{"status":"STALE",` + acts + `,"unknown":[` + numbered(1001, `"/p%d"`) + `]}`, problem: `"unknown" has 1001 entries`},
		{name: "stale without actions", says: `{"status":"STALE"}`, problem: "STALE without actions"},
		{name: "stale with no actions", says: `{"status":"STALE","actions":[]}`, problem: "STALE without actions"},
		{name: "stale with a state", says: `{"status":"STALE","state":{},` + acts + `}`, problem: `"state" is not known`},
		{name: "action without name", says: `{"status":"STALE","actions":[{"args":["x"]}]}`, problem: `"actions[0].name" is missing`},
		{name: "action unknown key", says: `{"status":"STALE","actions":[{"name":"a"},{"name":"b","cmd":"x"}]}`, problem: `"actions[1].cmd" is not known`},
		{name: "action a string", says: `{"status":"STALE","actions":["make"]}`, problem: `"actions[0]" is a string`},
		{name: "action that is a path", says: `{"status":"STALE","actions":[{"name":"../../etc"}]}`, problem: "not a valid name for " +
			"an action"},
		{name: "action with a C1 control", says: `{"status":"STALE","actions":[{"name":"a\u009bb"}]}`, problem: "not a valid name " +
			"for an action", beyondSchema: true},
		{name: "action with a turned direction", says: `{"status":"STALE","actions":[{"name":"a\u202eb"}]}`, problem: "not a valid " +
			"name for an action", beyondSchema: true},
		{name: "action with a zero width", says: `{"status":"STALE","actions":[{"name":"a\u200bb"}]}`, problem: "not a valid name " +
			"for an action", beyondSchema: true},
		{name: "action with a new line", says: `{"status":"STALE","actions":[{"name":"a\nb"}]}`, problem: "not a valid name for an " +
			"action", beyondSchema: true},
		{name: "action with a delete", says: `{"status":"STALE","actions":[{"name":"a\u007fb"}]}`, problem: "not a valid name for " +
			"an action", beyondSchema: true},
		{name: "action with escapes", says: `{"status":"STALE","actions":[{"name":"a\u001b[2J"}]}`, problem: "not a valid name for " +
			"an action"},
		{name: "unknown status", says: `{"status":"OK","state":{}}`, problem: `the status is "OK"`},
		{name: "lower case status", says: `{"status":"valid","state":{}}`, problem: `the status is "valid"`},
		{name: "no status", says: `{"state":{}}`, problem: `"status" is missing`},
		{name: "status a number", says: `{"status":1}`, problem: `"status" is a number`},
		{name: "status wrong case", says: `{"Status":"VALID","state":{}}`, problem: `"status" is missing`},
		{name: "reason unknown key", says: `{"status":"STALE",` + acts + `,"reasons":[{"why":"x"}]}`, problem: `"reasons[0].why" is not known`},
		{name: "reason path", says: `{"status":"STALE",` + acts + `,"reasons":[{"path":"size"}]}`, problem: "must be a JSON pointer"},
		{name: "two shutdowns", says: `{"status":"STALE",` + acts + `,"shutdown_first":[{"name":"a"}]}`, problem: `"shutdown_first" is a list`},
		{name: "VALID and provides", says: `{"status":"VALID","state":{},"provides":[{"kind":"dir","id":"/a"}]}`,
			want: `{"status":"VALID","state":{},"provides":[{"kind":"dir","id":"/a"}]}`},
		{name: "STALE and provides", says: `{"status":"STALE",` + acts + `,"provides":[{"kind":"dir","id":"/a"},{"kind":"x","id":"/a"}]}`,
			want: `{"status":"MISSING",` + actsOut + `,"provides":[{"kind":"dir","id":"/a"},{"kind":"x","id":"/a"}]}`},
		{name: "most provides", says: `{"status":"VALID","state":{},"provides":[` + provided(protocol.MaxProvides) + `]}`,
			want: `{"status":"VALID","state":{},"provides":[` + provided(protocol.MaxProvides) + `]}`},
		{name: "too many provides", says: `{"status":"VALID","state":{},"provides":[` + provided(protocol.MaxProvides+1) + `]}`,
			problem: `"provides" has 2001 entries, and may have at most 2000`},
		{name: "provides twice", says: `{"status":"VALID","state":{},"provides":[{"kind":"dir","id":"/a"},{"kind":"dir","id":"/a"}]}`,
			problem: `"provides" names dir "/a" twice`},
		{name: "provides a text", says: `{"status":"VALID","state":{},"provides":["/a"]}`, problem: `"provides[0]" is a string`},
		{name: "provides without kind", says: `{"status":"VALID","state":{},"provides":[{"id":"/a"}]}`, problem: `"provides[0].kind" is missing`},
		{name: "provides an empty id", says: `{"status":"VALID","state":{},"provides":[{"kind":"dir","id":""}]}`, problem: `"provides[0].id" is empty`},
		{name: "provides what is invisible", says: `{"status":"VALID","state":{},"provides":[{"kind":"dir","id":"/a\u202eb"}]}`,
			problem: `"provides[0].id" is not a valid identity`, beyondSchema: true},
		{name: "error and status", says: `{"status":"VALID","state":{},"error":{"class":"bug","message":"m"}}`, problem: `is not known`},
		{name: "error class", says: `{"error":{"class":"fatal","message":"m"}}`, problem: `"error.class" is "fatal"`},
		{name: "error without message", says: `{"error":{"class":"bug"}}`, problem: `"error.message" is missing`},
		{name: "error a string", says: `{"error":"m"}`, problem: `"error" is a string`},
		{name: "huge exponent", says: `{"status":"VALID","state":{"n":1e1000000}}`, problem: "exponent", beyondSchema: true},
		{name: "huge number", says: `{"status":"VALID","state":{"n":` + strings.Repeat("9", 500) + `}}`, problem: "digits", beyondSchema: true},
		{name: "duplicate in the state", says: `{"status":"VALID","state":{"a":[{"b":1,"b":2}]}}`, problem: `"b" is given twice (state.a[0]`, beyondSchema: true},
		{name: "two values", says: `{"status":"VALID","state":{}} {}`, problem: "more than one JSON value", beyondSchema: true},
		{name: "nothing", says: ``, problem: "not JSON", beyondSchema: true},
	}
	ones := []answer{
		{name: "missing", says: `{"status":"MISSING",` + acts + `}`, want: `{"status":"MISSING",` + actsOut + `}`},
		{name: "stale", says: `{"status":"STALE",` + acts + `}`, want: `{"status":"STALE",` + actsOut + `}`},
		{name: "valid", says: `{"status":"VALID","properties":{"a":1}}`, want: `{"status":"VALID","state":{"a":1}}`},
		{name: "valid with no actions", says: `{"status":"VALID","properties":{},"actions":[]}`, want: `{"status":"VALID","state":{}}`},
		{name: "valid with a memory", says: `{"status":"VALID","properties":{},"memory":1}`, problem: `"memory" is not known`},
		{name: "valid with actions", says: `{"status":"VALID","properties":{},` + acts + `}`, problem: "VALID with actions"},
		{name: "valid without properties", says: `{"status":"VALID"}`, problem: `VALID without "properties"`},
		{name: "valid with state", says: `{"status":"VALID","state":{}}`, problem: `VALID without "properties"`},
		{name: "missing without actions", says: `{"status":"MISSING"}`, problem: "MISSING without actions"},
		{name: "missing with properties", says: `{"status":"MISSING","properties":{},` + acts + `}`, problem: `MISSING with "properties"`},
		{name: "stale with properties", says: `{"status":"STALE","properties":{},` + acts + `}`, problem: `STALE with "properties"`},
		{name: "stale with staleState", says: `{"status":"STALE","staleState":{},` + acts + `}`, problem: `"staleState" is not known`},
		{name: "error", says: `{"error":{"class":"bug","message":"m"}}`, problem: `"status" is missing`},
		{name: "unknown status", says: `{"status":"GONE"}`, problem: `the status is "GONE"`},
	}
	absents := []answer{
		{name: "gone", says: `{"status":"MISSING"}`, want: `{"status":"MISSING"}`},
		{name: "there", says: `{"status":"STALE",` + acts + `}`, want: `{"status":"STALE",` + actsOut + `}`},
		{name: "there with its state", says: `{"status":"STALE","staleState":{"a":1},"reasons":[{"message":"m"}],` + acts + `}`, want: `{"status":"STALE","stale_state":{"a":1},` + actsOut + `,"reasons":[{"message":"m"}]}`},
		{name: "error", says: `{"error":{"class":"transient","message":"m"}}`, want: `transient  m`},
		{name: "there, with a memory", says: `{"status":"STALE","memory":[1.10],` + acts + `}`, want: `{"status":"STALE",` + actsOut + `,"memory":[1.10]}`},
		{name: "gone, with a memory", says: `{"status":"MISSING","memory":1}`, problem: `"memory" is not known`},
		{name: "unsettled", says: `{"error":{"class":"unsettled","message":"m"}}`, want: `unsettled  m`},
		{name: "gone with actions", says: `{"status":"MISSING",` + acts + `}`, problem: `MISSING with the key "actions"`},
		{name: "gone with no actions", says: `{"status":"MISSING","actions":[]}`, problem: `MISSING with the key "actions"`},
		{name: "there and provides", says: `{"status":"STALE","provides":[],` + acts + `}`, problem: `"provides" is not known`},
		{name: "there without actions", says: `{"status":"STALE"}`, problem: "STALE without actions"},
		{name: "valid", says: `{"status":"VALID","state":{}}`, problem: `the intent was "absent"`},
		{name: "unknown", says: `{"status":"ABSENT"}`, problem: `must be MISSING or STALE`},
	}
	return map[string][]answer{"state-answer": twos, "state-answer-1": ones, "absent-answer": absents}
}

func TestInit_Answers(t *testing.T) {
	t.Parallel()
	for _, a := range inits() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			c, fake := client(says(a.says))
			fake.Add("a/b", says(""))
			ty, err := c.Init(t.Context(), target())
			if checkProblem(t, a, err, "init") {
				ty.Reference, ty.Digest = "", ""
				compare(t, ty, strings.Replace(a.want, `{"protocol"`, `{"reference":"","digest":"","protocol"`, 1))
			}
			schema := "init-answer"
			if versionShown(a) == 1 {
				schema = "init-answer-1"
			}
			agrees(t, schema, a)
		})
	}
}

// versionShown is which schema an answer to init is to be held against.
func versionShown(a answer) int {
	f, err := answers.ReadFields([]byte(a.says))
	if err != nil {
		return 2
	}
	return answers.VersionOf(f)
}

func TestState_Answers(t *testing.T) {
	t.Parallel()
	total := 0
	for schema, list := range stateAnswers() {
		total += len(list)
		for _, a := range list {
			t.Run(schema+" "+a.name, func(t *testing.T) {
				t.Parallel()
				ty := protocol.Type{Protocol: 2, Reference: image, Absent: true, StateAction: protocol.Command{Args: []string{"state"}}, Memory: true}
				in := protocol.StateInput{}
				switch schema {
				case "state-answer-1":
					ty.Protocol = 1
				case "absent-answer":
					in.Intent = protocol.Absent
				}
				c, fake := client(says(a.says))
				fake.Add("i", says(""))
				ty.Digest = mustResolve(t, c)
				got, err := c.State(t.Context(), target(), ty, in)
				var te *protocol.TypeError
				if errors.As(err, &te) && a.problem == "" {
					diagnosed(t, err, "state")
					if s := string(te.Class) + " " + te.Path + " " + te.Message; s != a.want {
						t.Errorf("error %q, want %q", s, a.want)
					}
				} else if checkProblem(t, a, err, "state") {
					compare(t, got, a.want)
				}
				agrees(t, schema, a)
			})
		}
	}
	if total+len(inits()) < 60 {
		t.Errorf("only %d answers are tried", total)
	}
}

// checkProblem reports whether the answer was right, as expected.
func checkProblem(t *testing.T, a answer, err error, step string) bool {
	t.Helper()
	if a.problem == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return true
	}
	var pe *ProtocolError
	if !errors.As(err, &pe) {
		t.Fatalf("error %v, want a protocol error", err)
	}
	if !strings.Contains(pe.Message, a.problem) {
		t.Errorf("message %q, want %q", pe.Message, a.problem)
	}
	if d := diagnosed(t, err, step); len(d.Detail) > 2000 || !strings.Contains(d.Detail, image) {
		t.Errorf("detail %q", d.Detail)
	}
	return false
}

func compare(t *testing.T, got any, want string) {
	t.Helper()
	b, err := jsondoc.Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	w := want
	if _, ok := got.(protocol.Type); !ok {
		w = want
	}
	if string(b) != w {
		t.Errorf("read as\n%s\nwant\n%s", b, w)
	}
}

// agrees holds the published schema against the reader.
func agrees(t *testing.T, schema string, a answer) {
	t.Helper()
	if a.problem != "" && a.beyondSchema {
		return
	}
	found := published(t, schema, []byte(a.says))
	if a.problem == "" && len(found) > 0 {
		t.Errorf("the published schema %s refuses what is right: %+v", schema, found)
	}
	if a.problem != "" && len(found) == 0 {
		t.Errorf("the published schema %s takes what is wrong", schema)
	}
}

func TestState_SchemaIsKept(t *testing.T) {
	t.Parallel()
	c, _ := client(says(`{"status":"VALID","state":{"ip":7}}`))
	ty := protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c), StateSchema: json.RawMessage(`{"properties":{"ip":{"type":"string"}}}`)}
	_, err := c.State(t.Context(), target(), ty, protocol.StateInput{})
	if d := diagnosed(t, err, "state"); !strings.Contains(d.Detail, "state.ip must be a string, not a number") {
		t.Errorf("%v", err)
	}
}

// provided has that many directories that an object brings.
func provided(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"kind":"dir","id":"/%d"}`, i)
	}
	return strings.Join(list, ",")
}
