# error 5:3 actions

resource "a" {
  type = "x"
  provisioner "local-exec" {
    command = "true"
  }
}
