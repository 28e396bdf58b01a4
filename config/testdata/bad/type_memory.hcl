type "t" {
  image = "x"
  memory = "lots"
}
# error 3:12 Invalid memory
