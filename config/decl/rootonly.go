package decl

// rootOnly has the error for each block that only the root manifest may declare, by its type. NAME is the block's name.
var rootOnly = map[string]struct{ summary, detail string }{
	"host": {"A host in a module", "Hosts are declared in the root manifest only. Declare it there, and pass it as a variable, for " +
		"example target = host.NAME; then write host = var.target here."},
	"artifact": {"An artifact in a module", "Artifacts are declared in the root manifest only. Declare it there, and pass what the " +
		"module needs of it as a variable, for example NAME = artifact.NAME.version."},
	"publish": {"A publish in a module", "Publishes are declared in the root manifest only. Declare it there, made of outputs of the " +
		"module."},
	"remote_state": {"A remote_state in a module", "Outputs of other states are read by the root manifest only. Declare it there, and " +
		"pass what the module needs as a variable."},
	"secret": {"A secret block in a module", "The image of a secret block runs with rights of its own, so that only the root manifest " +
		"may declare one. Move it there; the resources of this module can use it."},
	"notify": {"A notify block in a module", "Notifications cover the whole run, so that only the root manifest may declare them. " +
		"Move it there."},
	"operation": {"An operation in a module", "Schedules belong to the whole state, so that only the root manifest may declare " +
		"operations. Move it there; it can name a resource of this module."},
	"plug": {"A plug in a module", "A plug gives away a file of this host, so that only the root manifest may declare one. Move it " +
		"there; its allow-lists can name the resources of this module."},
	"semaphore": {"A semaphore in a module", "A semaphore is for all resources, so that only the root manifest may declare one. Move it " +
		"there; the resources of this module can name it."},
	"exclusive": {"An exclusive set in a module", "A set counts the objects of all resources, so that only the root manifest may " +
		"declare one. Move it there."},
	"policy": {"A policy in a module", "A policy judges the whole plan, so that only the root manifest may declare one. Move it there."},
}
