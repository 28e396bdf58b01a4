# error 3:1 one block each

variables {
  a = 1
}
