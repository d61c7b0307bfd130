// Of this build only the domain is fetched: no parent, no other module.
new File(basedir, 'build.log').eachLine {
  assert !it.contains('/org/plantstore/') || it.contains('/org/plantstore/plant-domain/')
}

// Compares the first lines of a program's output, which are common to all; returns a function that returns the rest.
return { name ->
  def output = new File(basedir, "target/$name").readLines()
  assert output.take(5) == [
      'Plant[name=fern, tag=shade]',
      'Plant[name=moss, tag=null]',
      'org.plantstore.domain.PlantIdTakenException: id 1 is taken by another plant',
      'name must not contain U+0000, but has it at index 4',
      'tag must not contain an unpaired surrogate, but has it at index 0']
  output.drop(5)
}
