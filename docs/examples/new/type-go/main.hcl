# A resource type of your own in Go: an image that reports what exists, and what would
# correct it. Each of its resources is a file with a text, in the directory notes. Run:
#
#   CGO_ENABLED=0 go build -o note .
#   deployster image pack -t demo/note note
#   deployster plan -out=plan.bin
#   deployster apply plan.bin
#
# Then change the text below, or the file notes/today, and plan again.

# The directory of this machine that the type may use; it shows it as /notes.
plug "notes" {
  path = "./notes"
}

variable "text" {
  type    = string
  default = "hello"
}

resource "today" {
  type   = "demo/note"
  config = { name = "today", text = var.text }
}

output "text" {
  value = resource.today.state.text
}
