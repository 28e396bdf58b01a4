package subject

import (
	"deployster/internal/base/diag"
	"deployster/protocol"
)

// Exists refuses an object that must not exist before it is created, but does: it has adopt =
// false, or replaces the object of that key. recorded reports that the resource has an entry.
func Exists(isNew bool, replaces string, recorded bool, status protocol.Status) error {
	switch {
	case recorded || status == protocol.Missing || !isNew && replaces == "":
		return nil
	case replaces != "":
		return diag.Errorf("The new object cannot be created first", "It is to replace %s, and to be created before that is destroyed "+
			"(create_before_destroy, its own or that of a dependant). But its image returned %s for the new one: both are one object, "+
			"or it exists already. Without create_before_destroy, the old one is destroyed first.", replaces, status)
	}
	return diag.Errorf("Resource exists already", "It has adopt = false, so it must not exist before deployster creates it; but nothing "+
		"is recorded of it, and its image returned %s. Give it another identity, remove what exists, or take it over with lifecycle { "+
		"adopt = true }.", status)
}
