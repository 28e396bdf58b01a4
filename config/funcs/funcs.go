package funcs

import (
	"maps"
	"time"

	"github.com/zclconf/go-cty/cty/function"
)

// Env is what functions take from around them.
type Env struct {
	Files Files
	// Dir is where relative paths begin for abspath, Home what ~ stands for in
	// pathexpand. Both are absolute.
	Dir, Home string
	// PlanTime is when the plan was made; zero = there is none yet, and
	// plantimestamp is unknown.
	PlanTime time.Time
	// Impure makes what is never the same twice: timestamp, uuid and bcrypt. nil
	// = it is too early for that, and they are unknown.
	Impure *Source
	// Console adds what only a person at a console has use for: type.
	Console bool
}

// New gives the functions by name.
func New(env Env) map[string]function.Function {
	if env.Files == nil {
		env.Files = noFiles{}
	}
	all := map[string]function.Function{}
	for _, group := range []map[string]function.Function{
		numberFunctions(), textFunctions(), regexFunctions(), formatFunctions(), collectionFunctions(), elementFunctions(), truthFunctions(),
		setFunctions(),
		conversionFunctions(), encodingFunctions(), charsetFunctions(), digestFunctions(), cryptoFunctions(), networkFunctions(),
		dateFunctions(env.PlanTime),
		markFunctions(), pathFunctions(env.Dir, env.Home), fileFunctions(env.Files), impureFunctions(env.Impure),
	} {
		maps.Copy(all, group)
	}
	for name, f := range all {
		if !closures[name] {
			all[name] = bounded(f)
		}
	}
	inner := maps.Clone(all)
	for _, name := range ImpureNames() {
		delete(inner, name) // who reads the call of a template must see that it is one
	}
	all["templatefile"] = templateFile(env.Files, inner)
	all["templatestring"] = templateString(inner)
	if env.Console {
		all["type"] = typeFunction()
	}
	return all
}

// closures get expressions and not values: what is evaluated in them is bounded
// by itself.
var closures = map[string]bool{"try": true, "can": true}
