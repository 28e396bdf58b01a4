package typeview

import (
	"cmp"
	"maps"
	"slices"

	"deployster/internal/ui/paint"
	"deployster/internal/ui/terminal"
	"deployster/protocol"
)

// printOperations prints what a type does on request, each with the properties of its input.
func printOperations(p terminal.Printer, all map[string]protocol.Operation) {
	if len(all) == 0 {
		return
	}
	p.Printf("\n%s\n", paint.Bold("Operations"))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		p.Printf("  %s: %s (%s)\n", name, cmp.Or(o.Label, "-"), OperationKind(o))
		rows, _ := schemaRows(o.ConfigSchema)
		printProperties(p, rows, true)
	}
}

// OperationKind describes what a run of an operation means.
func OperationKind(o protocol.Operation) string {
	switch {
	case !o.Changing():
		return "changes nothing, needs no lock"
	case o.Idempotent:
		return "may run again after an unknown end"
	}
	return "may change the object"
}
