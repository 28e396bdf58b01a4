package funcs

import (
	"maps"
	"time"

	"github.com/zclconf/go-cty/cty/function"
)

// Env is the environment of the functions.
type Env struct {
	Files Files
	// Dir is the directory in which relative paths begin for abspath, Home the
	// directory that ~ stands for in pathexpand. Both are absolute.
	Dir, Home string
	// PlanTime is the time of the plan; zero = there is none yet, and plantimestamp
	// is unknown.
	PlanTime time.Time
	// Impure provides the results of timestamp, uuid and bcrypt, which differ each
	// time. nil = it is too early for them, and they are unknown.
	Impure *Source
	// Console adds the function that is only useful to a person at a console: type.
	Console bool
}

// New returns the functions by name.
func New(env Env) map[string]function.Function {
	if env.Files == nil {
		env.Files = noFiles{}
	}
	all := map[string]function.Function{}
	for _, group := range []map[string]function.Function{
		numberFunctions(), textFunctions(), regexFunctions(), formatFunctions(), collectionFunctions(), elementFunctions(),
		truthFunctions(),
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
		delete(inner, name) // code that reads the call of a template must see that it is impure
	}
	all["templatefile"] = templateFile(env.Files, inner)
	all["templatestring"] = templateString(inner)
	if env.Console {
		all["type"] = typeFunction()
	}
	return all
}

// closures are the functions that get expressions and not values: the evaluation
// inside them is limited by itself.
var closures = map[string]bool{"try": true, "can": true}
