package things

import "deployster/internal/base/diag"

// Protected returns the error for a replacement of a resource that must not be destroyed.
func Protected(because, why string) *diag.Diagnostic {
	return diag.Errorf("Protected resource would be replaced", "%s, and to replace it would destroy it (%s). To replace it, first apply it "+
		"with prevent_destroy = false, and nothing else changed.", because, why)
}

// NotFirst returns the error for a resource that must be created first but cannot.
func NotFirst(because, why string) *diag.Diagnostic {
	return diag.Errorf("The new thing cannot be made first", "It has create_before_destroy = true, or something that depends on it has, "+
		"but %s (%s). Take create_before_destroy away, and it is destroyed first.", because, why)
}
