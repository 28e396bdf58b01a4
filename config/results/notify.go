package results

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// notifyEvents are the events that a notify block may name: a type of event, and its status.
func notifyEvents() []string {
	return []string{"repair_ended.error", "report.error", "report.incomplete", "report.ok", "resource_watch.drifted",
		"resource_watch.flapping", "resource_watch.gone", "resource_watch.not_approved"}
}

// NotifyEvents reads the names of the events of a notify block.
func NotifyEvents(set cty.Value) (list []string, err error) {
	known := notifyEvents()
	for _, v := range set.AsValueSlice() {
		if v.IsNull() || !slices.Contains(known, v.AsString()) {
			name := "null"
			if !v.IsNull() {
				name = fmt.Sprintf("%q", v.AsString())
			}
			guess := ""
			if !v.IsNull() {
				guess = words.DidYouMean(v.AsString(), known)
			}
			return nil, fmt.Errorf("there is no event %s.%s There are %s", name, guess, words.All(known))
		}
		list = append(list, v.AsString())
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it has no event, so that nothing would be sent: there are %s", words.All(known))
	}
	slices.Sort(list)
	return list, nil
}

// NotifyInput reads what the image of a notify block is given.
func NotifyInput(m *eval.Modules, b *decl.Block, at instance.Scope) (config, params instance.Resolved, diags hcl.Diagnostics) {
	config, diags = StaticObject(m, b.Attrs["config"], "the config of a notify block", at)
	params, more := StaticObject(m, b.Attrs["params"], "the params of a notify block", at)
	return config, params, append(diags, more...)
}

// NotifierHere returns an error for a type with a host: notifications are sent from this machine.
func NotifierHere(b *decl.Block, set instance.TypeSettings) hcl.Diagnostics {
	if set.Host == nil {
		return nil
	}
	return hcl.Diagnostics{source.Failure(b.Attrs["type"].Expr.Range(), "A notifier on another machine", "Notifications are sent from "+
		"this machine, and this type has host = host.%s. Declare a type without host for it.", set.Host.Name)}
}
