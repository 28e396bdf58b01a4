package decl

import (
	"maps"
	"slices"

	"deployster/config/source"
)

var notifySchema = attributes("type!", "on!", "config", "params")

// NotifyEvents are the events that a notify block may name: a type of event, and its status.
func NotifyEvents() []string {
	return []string{"repair_ended.error", "report.error", "report.incomplete", "report.ok", "resource_watch.drifted",
		"resource_watch.flapping", "resource_watch.gone", "resource_watch.not_approved"}
}

var secretSchema = attributes("type!", "config", "compare")

// rootNotify adds an error for each notify and secret block in a module, which cannot have them.
func (l *loader) rootNotify() {
	for _, name := range slices.Sorted(maps.Keys(l.b.Secrets)) {
		l.add(source.Failure(l.b.Secrets[name].At, "A secret block in a module", "The image of a secret block runs with rights of its "+
			"own, so that only the root manifest may declare one. Move it there; the resources of this module can use it."))
	}
	for _, name := range slices.Sorted(maps.Keys(l.b.Notify)) {
		l.add(source.Failure(l.b.Notify[name].At, "A notify block in a module", "Notifications cover the whole run, so that only the "+
			"root manifest may declare them. Move it there."))
	}
}
