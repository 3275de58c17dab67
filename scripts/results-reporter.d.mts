interface Module {
  relativeModuleId: string;
}

interface TestCase {
  module: Module;
  fullName: string;
}

export default class ResultsReporter {
  onTestModuleStart(module: Module): void;
  onTestCaseReady(test: TestCase): void;
  onTestCaseResult(test: TestCase): void;
  onTestModuleEnd(module: Module): void;
}
